import { createTable, type Migration } from "./migration.js";

const AMOUNTS = ["monthly", "pack", "reserved_monthly", "reserved_pack", "spent"] as const;

/** What the last verification of the ledger saw of each account, so that the next goes on from there. */
export const ledgerCheckpoints: Migration = {
  name: "0049-ledger-checkpoints",
  creates: ["ledger_checkpoints"],
  async up(knex, columns, names) {
    await createTable(knex, names.of("ledger_checkpoints"), (table) => {
      columns.id(table, "account_id").notNullable().primary();
      columns.integer(table, "seq").notNullable();
      for (const name of AMOUNTS) columns.integer(table, name).notNullable();
      columns.id(table, "checksum", 64).notNullable();
    });
  },
};
