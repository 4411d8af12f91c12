import { addColumn, type Migration } from "./migration.js";

export const providerTrials: Migration = {
  name: "0009-provider-trials",
  async up(knex, columns, names) {
    await addColumn(knex, names.of("provider_health"), "trial_until", (table, name) => columns.integer(table, name));
  },
};
