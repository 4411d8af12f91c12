import { addColumn, type Migration } from "./migration.js";

/** A job under way keeps that its cancellation is wanted: whichever process decides on it next has to know. */
export const cancelRequests: Migration = {
  name: "0032-cancel-requests",
  async up(knex, columns, names) {
    await addColumn(knex, names.of("jobs"), "cancel_requested_at", (table, name) => columns.integer(table, name));
  },
};
