import { checkOneOf, createTable, type Migration } from "./migration.js";

const AMOUNTS = ["monthly", "pack", "reserved_monthly", "reserved_pack", "spent"] as const;

export const ledger: Migration = {
  name: "0002-ledger",
  creates: ["balances", "ledger_entries"],
  async up(knex, columns, names) {
    await createTable(knex, names.of("balances"), (table) => {
      columns.id(table, "account_id").notNullable().primary();
      for (const name of [...AMOUNTS, "running_jobs", "ledger_seq"]) {
        columns.integer(table, name).notNullable();
        table.check(`${name} >= 0`, undefined, names.of(`balances_${name}_not_negative`));
      }
    });
    await createTable(knex, names.of("ledger_entries"), (table) => {
      columns.id(table, "account_id").notNullable();
      columns.integer(table, "seq").notNullable();
      columns.id(table, "kind", 20).notNullable();
      columns.id(table, "job_id");
      // What the entry does to its job: a job is opened once and closed once.
      columns.id(table, "phase", 10);
      for (const name of AMOUNTS) columns.integer(table, name).notNullable();
      columns.words(table, "external_ref", 200);
      columns.integer(table, "created_at").notNullable();
      table.primary(["account_id", "seq"]);
      columns.indexWhereSet(knex, table, ["job_id", "phase"], "job_id", {
        name: names.of("ledger_entries_job_phase"),
        unique: true,
      });
      columns.indexWhereSet(knex, table, ["external_ref"], "external_ref", {
        name: names.of("ledger_entries_external_ref"),
        unique: true,
      });
      checkOneOf(table, names.of("ledger_entries_kind"), "kind", [
        "grant",
        "renew",
        "expire",
        "reserve",
        "charge",
        "refund",
      ]);
      table.check(
        "(kind = 'reserve' and phase = 'open' and job_id is not null) or " +
          "(kind in ('charge', 'refund') and phase = 'close' and job_id is not null) or " +
          "(kind in ('grant', 'renew', 'expire') and phase is null and job_id is null)",
        undefined,
        names.of("ledger_entries_phase"),
      );
    });
  },
};
