import { addColumn, type Migration } from "./migration.js";

export const providerTrials: Migration = {
  name: "0009-provider-trials",
  async up(knex, columns) {
    await addColumn(knex, "provider_health", "trial_until", (table, name) => columns.integer(table, name));
  },
};
