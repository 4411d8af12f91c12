import { addColumn, type Migration } from "./migration.js";

/** How far providers say that their work is; null in rows of before. */
export const attemptProgress: Migration = {
  name: "0034-attempt-progress",
  async up(knex, columns, names) {
    await addColumn(knex, names.of("job_attempts"), "progress", (table, name) => columns.json(table, name));
  },
};
