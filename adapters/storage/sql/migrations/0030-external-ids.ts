import { addColumn, addIndex, type Migration } from "./migration.js";

/** Accounts that an app around Fermata creates for its own users, one for each. */
export const externalIds: Migration = {
  name: "0030-external-ids",
  async up(knex, columns, names) {
    await addColumn(knex, names.of("accounts"), "external_id", (table, name) => columns.words(table, name, 255));
    await addIndex(knex, columns, names.of("accounts"), names.of("accounts_external_id"), (table) => {
      columns.indexWhereSet(knex, table, ["external_id"], "external_id", {
        name: names.of("accounts_external_id"),
        unique: true,
      });
    });
  },
};
