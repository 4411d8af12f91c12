import { createTable, type Migration } from "./migration.js";

export const idempotency: Migration = {
  name: "0004-idempotency",
  creates: ["idempotency_records"],
  async up(knex, columns, names) {
    await createTable(knex, names.of("idempotency_records"), (table) => {
      columns.id(table, "account_id").notNullable();
      columns.id(table, "key_hash", 64).notNullable();
      columns.id(table, "shape_hash", 64).notNullable();
      columns.id(table, "body_hash", 64).notNullable();
      columns.id(table, "job_id").notNullable();
      columns.integer(table, "status").notNullable();
      columns.text(table, "response").notNullable();
      columns.integer(table, "created_at").notNullable();
      columns.integer(table, "expires_at").notNullable();
      table.primary(["account_id", "key_hash"]);
      table.index(["expires_at"], names.of("idempotency_records_expiry"));
    });
  },
};
