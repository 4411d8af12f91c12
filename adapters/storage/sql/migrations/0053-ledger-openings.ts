import { addColumn, createTable, type Migration } from "./migration.js";

const AMOUNTS = ["monthly", "pack", "reserved_monthly", "reserved_pack", "spent"] as const;

/** Old entries of the ledger are archived: an opening balance per account stands in their place. */
export const ledgerOpenings: Migration = {
  name: "0053-ledger-openings",
  creates: ["ledger_openings", "ledger_archives"],
  async up(knex, columns, names) {
    await createTable(knex, names.of("ledger_openings"), (table) => {
      columns.id(table, "account_id").notNullable().primary();
      columns.integer(table, "entries").notNullable();
      columns.integer(table, "last_seq").notNullable();
      columns.integer(table, "last_at").notNullable();
      for (const name of AMOUNTS) columns.integer(table, name).notNullable();
      columns.id(table, "checksum", 64).notNullable();
    });
    await createTable(knex, names.of("ledger_archives"), (table) => {
      columns.integer(table, "number").notNullable().primary();
      columns.words(table, "file", 100).notNullable();
      columns.id(table, "sha256", 64).notNullable();
      columns.integer(table, "entries").notNullable();
      columns.id(table, "state", 20).notNullable();
      columns.integer(table, "created_at").notNullable();
    });
    await addColumn(knex, names.of("jobs"), "ledger_archived_at", (table, name) => columns.integer(table, name));
  },
};
