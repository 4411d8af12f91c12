import { addColumn, type Migration } from "./migration.js";

/** Signed links of a track carry a counter, so that links given out before it was unshared end at once. */
export const linkGeneration: Migration = {
  name: "0023-link-generation",
  async up(knex, columns, names) {
    await addColumn(knex, names.of("tracks"), "link_generation", (table, column) => columns.integer(table, column));
  },
};
