import { addColumn, type Migration } from "./migration.js";

/** Callbacks name the attempt that their URL was created for; earlier callbacks belong to the job's open attempt. */
export const callbackAttempts: Migration = {
  name: "0019-callback-attempts",
  async up(knex, columns, names) {
    await addColumn(knex, names.of("provider_callbacks"), "attempt", (table, name) => columns.integer(table, name));
  },
};
