import { addColumn, type Migration } from "./migration.js";

/** When each API key was last used; null where it was not since there is the column. */
export const keyUses: Migration = {
  name: "0041-key-uses",
  async up(knex, columns, names) {
    await addColumn(knex, names.of("api_keys"), "last_used_at", (table, name) => columns.integer(table, name));
  },
};
