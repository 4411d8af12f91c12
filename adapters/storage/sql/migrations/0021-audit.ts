import { createTable, type Migration } from "./migration.js";

/** Operators' actions, each with the hash of the one before. */
export const audit: Migration = {
  name: "0021-audit",
  creates: ["audit_log", "audit_head"],
  async up(knex, columns, names) {
    await createTable(knex, names.of("audit_log"), (table) => {
      columns.integer(table, "number").notNullable().primary();
      columns.id(table, "id").notNullable();
      columns.integer(table, "created_at").notNullable();
      columns.words(table, "actor", 100).notNullable();
      columns.id(table, "action").notNullable();
      columns.id(table, "account_id");
      columns.json(table, "targets").notNullable();
      columns.json(table, "fields").notNullable();
      columns.id(table, "previous_hash", 64).notNullable();
      columns.id(table, "hash", 64).notNullable();
      table.unique(["id"], { indexName: names.of("audit_log_id") });
      table.index(["account_id", "number"], names.of("audit_log_account"));
      table.index(["action", "number"], names.of("audit_log_action"));
    });
    // One row, which every append locks: the chain has one end.
    await createTable(knex, names.of("audit_head"), (table) => {
      columns.integer(table, "one").notNullable().primary();
      columns.integer(table, "number").notNullable();
      columns.id(table, "hash", 64).notNullable();
    });
    const rows = await knex(names.of("audit_head")).select("one");
    if (rows.length === 0) await knex(names.of("audit_head")).insert({ one: 1, number: 0, hash: "0".repeat(64) });
  },
};
