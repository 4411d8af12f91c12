import { createTable, type Migration } from "./migration.js";

export const accounts: Migration = {
  name: "0001-accounts",
  creates: ["accounts", "api_keys"],
  async up(knex, columns, names) {
    await createTable(knex, names.of("accounts"), (table) => {
      columns.id(table, "id").notNullable().primary();
      columns.words(table, "name", 100).notNullable();
      columns.words(table, "tier", 100).notNullable();
      table.boolean("email_verified").notNullable();
      columns.integer(table, "terms_accepted_at");
      columns.integer(table, "created_at").notNullable();
    });
    await createTable(knex, names.of("api_keys"), (table) => {
      columns.id(table, "id").notNullable().primary();
      columns.id(table, "account_id").notNullable();
      columns.words(table, "name", 100);
      columns.id(table, "token_hash", 64).notNullable();
      columns.id(table, "shown_prefix", 20).notNullable();
      columns.json(table, "scopes").notNullable();
      columns.integer(table, "created_at").notNullable();
      columns.integer(table, "revoked_at");
      table.unique(["token_hash"], { indexName: names.of("api_keys_token_hash") });
      table.index(["account_id", "created_at", "id"], names.of("api_keys_account"));
    });
  },
};
