import { checkOneOf, createTable, type Migration } from "./migration.js";

/** Tokens of operators for the admin API. */
export const adminTokens: Migration = {
  name: "0037-admin-tokens",
  creates: ["admin_tokens"],
  async up(knex, columns, names) {
    await createTable(knex, names.of("admin_tokens"), (table) => {
      columns.id(table, "id").notNullable().primary();
      columns.words(table, "name", 60).notNullable();
      columns.id(table, "role", 20).notNullable();
      columns.id(table, "token_hash", 64).notNullable();
      columns.id(table, "shown_prefix", 20).notNullable();
      columns.integer(table, "created_at").notNullable();
      columns.integer(table, "expires_at");
      columns.integer(table, "revoked_at");
      table.unique(["token_hash"], { indexName: names.of("admin_tokens_hash") });
      checkOneOf(table, names.of("admin_tokens_role_known"), "role", ["read", "operate", "owner"]);
    });
  },
};
