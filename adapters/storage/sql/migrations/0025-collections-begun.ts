import { addColumn, type Migration } from "./migration.js";

/** Jobs count how often the collection of their files was begun and never ended; null in rows of before is none. */
export const collectionsBegun: Migration = {
  name: "0025-collections-begun",
  async up(knex, columns, names) {
    await addColumn(knex, names.of("jobs"), "collections_begun", (table, column) => columns.integer(table, column));
  },
};
