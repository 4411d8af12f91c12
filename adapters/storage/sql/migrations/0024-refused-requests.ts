import { addColumn, addIndex, type Migration } from "./migration.js";

/**
 * A row may stand for many requests that a rate limit refused. Both columns are set in such rows alone; the index holds
 * all that is counted of them.
 */
export const refusedRequests: Migration = {
  name: "0024-refused-requests",
  async up(knex, columns, names) {
    await addColumn(knex, names.of("request_log"), "request_count", (table, column) => columns.integer(table, column));
    await addColumn(knex, names.of("request_log"), "merged_at", (table, column) => columns.integer(table, column));
    const indexed = ["account_id", "merged_at", "request_count", "client", "route"];
    await addIndex(knex, columns, names.of("request_log"), names.of("request_log_merged"), (table) =>
      columns.indexWhereSet(knex, table, indexed, "merged_at", { name: names.of("request_log_merged") }),
    );
  },
};
