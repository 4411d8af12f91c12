import type { Migration } from "./migration.js";

/** The health of a model is stored next to that of its provider: its id is longer. */
export const routeHealth: Migration = {
  name: "0026-route-health",
  async up(knex, columns, names) {
    await knex.schema.alterTable(names.of("provider_health"), (table) => {
      columns.id(table, "provider_id", 100).notNullable().alter();
    });
  },
};
