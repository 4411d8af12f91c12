import { createTable, type Migration } from "./migration.js";

export const rateCounts: Migration = {
  name: "0011-rate-counts",
  creates: ["rate_counts"],
  async up(knex, columns, names) {
    await createTable(knex, names.of("rate_counts"), (table) => {
      columns.id(table, "subject", 80).notNullable();
      columns.integer(table, "window_seconds").notNullable();
      columns.integer(table, "started_at").notNullable();
      columns.integer(table, "requests").notNullable();
      columns.integer(table, "ends_at").notNullable();
      table.primary(["subject", "window_seconds"]);
      table.index(["ends_at"], names.of("rate_counts_end"));
    });
  },
};
