import { addColumn, type Migration } from "./migration.js";

/** A worker goes on with the trace of the request that created a job; null without one, and in rows of before. */
export const jobTraces: Migration = {
  name: "0042-job-traces",
  async up(knex, columns, names) {
    await addColumn(knex, names.of("jobs"), "trace", (table, name) => columns.json(table, name));
  },
};
