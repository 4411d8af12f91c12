import { createTable, type Migration } from "./migration.js";

export const providerHealth: Migration = {
  name: "0006-provider-health",
  creates: ["provider_health"],
  async up(knex, columns, names) {
    await createTable(knex, names.of("provider_health"), (table) => {
      columns.id(table, "provider_id").notNullable().primary();
      columns.integer(table, "failures").notNullable();
      columns.integer(table, "opened_at");
    });
  },
};
