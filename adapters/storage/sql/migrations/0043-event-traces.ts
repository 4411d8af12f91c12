import { addColumn, type Migration } from "./migration.js";

/** Deliveries go on with the trace of the job that their event is about. */
export const eventTraces: Migration = {
  name: "0043-event-traces",
  async up(knex, columns, names) {
    await addColumn(knex, names.of("webhook_events"), "trace", (table, name) => columns.json(table, name));
  },
};
