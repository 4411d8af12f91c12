import type { Migration } from "./migration.js";

/**
 * Leases are renewed by the ids of their jobs. An index on who holds them had no reader, and was written by every
 * claim.
 */
export const leaseIndex: Migration = {
  name: "0008-lease-index",
  async up(knex, columns, names) {
    if (!(await columns.hasIndex(knex, names.of("jobs"), names.of("jobs_lease")))) return;
    await knex.schema.alterTable(names.of("jobs"), (table) => table.dropIndex([], names.of("jobs_lease")));
  },
};
