import { addColumn, addIndex, createClustered, type Migration } from "./migration.js";

/** The row of `installation` with the last id of the log whose row is counted; absent once all rows are. */
export const COUNTED_UP_TO = "request_log_counted_up_to";

/**
 * Requests are counted by account, span of time, client, route and status. Rows that are there are counted by a task in
 * small steps, while the service runs: until then it counts the log.
 */
export const requestCounts: Migration = {
  name: "0050-request-counts",
  creates: ["request_counts"],
  async up(knex, columns, names) {
    const [counts, log, age] = [names.of("request_counts"), names.of("request_log"), names.of("request_counts_age")];
    await createClustered(knex, columns, counts, (table) => {
      columns.id(table, "account_id").notNullable();
      columns.words(table, "client", 101).notNullable();
      columns.id(table, "span", 4).notNullable();
      columns.integer(table, "starts_at").notNullable();
      columns.words(table, "route", 100).notNullable();
      table.smallint("status").notNullable();
      columns.integer(table, "requests").notNullable();
      table.primary(["account_id", "client", "span", "starts_at", "route", "status"]);
    });
    await addIndex(knex, columns, counts, age, (table) => void table.index(["starts_at"], age));
    await addColumn(knex, log, "is_counted", (table, column) => table.tinyint(column));
    const uncounted = await knex(log).whereNull("is_counted").select("id").limit(1);
    const installation = knex(names.of("installation"));
    const begun = await installation.clone().where({ name: COUNTED_UP_TO }).select("name");
    if (uncounted.length > 0 && begun.length === 0) await installation.insert({ name: COUNTED_UP_TO, value: "" });
  },
};
