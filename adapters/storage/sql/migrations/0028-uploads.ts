import { createTable, type Migration } from "./migration.js";

/** Tracks that accounts bring: each is known before its first byte is stored. */
export const uploads: Migration = {
  name: "0028-uploads",
  creates: ["uploads"],
  async up(knex, columns, names) {
    await createTable(knex, names.of("uploads"), (table) => {
      columns.id(table, "track_id").notNullable().primary();
      columns.id(table, "account_id").notNullable();
      columns.integer(table, "size_bytes").notNullable();
      columns.integer(table, "created_at").notNullable();
      columns.integer(table, "stored_at");
      table.index(["account_id"], names.of("uploads_account"));
      table.index(["stored_at", "created_at"], names.of("uploads_begun"));
    });
  },
};
