import type { Knex } from "knex";
import { fromJson } from "../table.js";
import { addColumn, addIndex, createTable, type Migration } from "./migration.js";

const BACKFILL_ROWS = 500;

/**
 * Every filter of the usage has an index that also holds what is counted; the id stands in it for the order of a list.
 */
const LOG_INDEXES: Readonly<Record<string, readonly string[]>> = {
  request_log_account: ["account_id", "created_at", "id", "status"],
  request_log_client: ["account_id", "client", "created_at", "id", "status", "route"],
  request_log_route: ["account_id", "route", "created_at", "id", "status"],
  request_log_status: ["account_id", "status", "created_at", "id"],
  request_log_age: ["created_at"],
};

/** What is summed of an account's requests, and never changes. */
const USAGE_COLUMNS = ["account_id", "requested_at", "request_id", "client", "reserved_monthly", "reserved_pack"];

export const requestLog: Migration = {
  name: "0012-request-log",
  creates: ["request_log"],
  async up(knex, columns, names) {
    await createTable(knex, names.of("request_log"), (table) => {
      columns.id(table, "id").notNullable().primary();
      columns.id(table, "account_id").notNullable();
      columns.integer(table, "created_at").notNullable();
      columns.id(table, "method", 10).notNullable();
      columns.words(table, "path", 255).notNullable();
      columns.words(table, "route", 100).notNullable();
      table.smallint("status").notNullable();
      columns.id(table, "error_code", 50);
      columns.integer(table, "request_bytes");
      columns.integer(table, "response_bytes");
      columns.id(table, "job_id");
      columns.words(table, "client", 100);
    });
    for (const [index, indexed] of Object.entries(LOG_INDEXES)) {
      const name = names.of(index);
      await addIndex(knex, columns, names.of("request_log"), name, (table) => void table.index([...indexed], name));
    }
    await addColumn(knex, names.of("jobs"), "client", (table, name) => columns.words(table, name, 100));
    await addColumn(knex, names.of("jobs"), "requested_at", (table, name) => columns.integer(table, name));
    await fillJobs(knex, names.of("jobs"));
    await addIndex(knex, columns, names.of("jobs"), names.of("jobs_usage"), (table) =>
      columns.indexWhereSet(knex, table, USAGE_COLUMNS, "requested_at", { name: names.of("jobs_usage") }),
    );
  },
};

/** Jobs from before: the arrival of their request was not recorded, so it is taken from when they were created. */
async function fillJobs(knex: Knex, jobs: string): Promise<void> {
  for (let last = ""; ;) {
    const rows = await knex<{ id: string; created_at: number; request: string }>(jobs)
      .whereNotNull("request_id")
      .andWhere("id", ">", last)
      .orderBy("id")
      .limit(BACKFILL_ROWS)
      .select("id", "created_at", "request");
    for (const { id, created_at, request } of rows) {
      const { client } = fromJson<{ readonly client: string | null }>(request);
      await knex(jobs).where({ id }).update({ client, requested_at: created_at });
    }
    const next = rows.at(-1)?.id;
    if (next === undefined) return;
    last = next;
  }
}
