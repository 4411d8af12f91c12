import { addColumn, addIndex, type Migration } from "./migration.js";

/** What an embedding app calls a split: it is started once under one reference of an account. */
export const splitReference: Migration = {
  name: "0016-split-reference",
  async up(knex, columns, names) {
    await addColumn(knex, names.of("jobs"), "reference", (table, name) => columns.words(table, name, 255));
    await addIndex(knex, columns, names.of("jobs"), names.of("jobs_reference"), (table) => {
      columns.indexWhereSet(knex, table, ["account_id", "reference"], "reference", {
        name: names.of("jobs_reference"),
        unique: true,
      });
    });
  },
};
