import { addColumn, addIndex, type Migration } from "./migration.js";

/** Accounts that an operator suspends, and keys that expire. */
export const suspension: Migration = {
  name: "0020-suspension",
  async up(knex, columns, names) {
    await addColumn(knex, names.of("accounts"), "suspended_at", (table, name) => columns.integer(table, name));
    await addColumn(knex, names.of("accounts"), "suspended_reason", (table, name) => columns.words(table, name, 200));
    await addColumn(knex, names.of("api_keys"), "expires_at", (table, name) => columns.integer(table, name));
    // Read for every second in which shared audio is asked for: few accounts of many are suspended.
    await addIndex(knex, columns, names.of("accounts"), names.of("accounts_suspended"), (table) => {
      columns.indexWhereSet(knex, table, ["suspended_at"], "suspended_at", { name: names.of("accounts_suspended") });
    });
  },
};
