import { addIndex, type Migration } from "./migration.js";

/** What happened in a span of time is summed up for operators, each sum from one of these indexes alone. */
export const activity: Migration = {
  name: "0039-activity",
  async up(knex, columns, names) {
    const [log, statuses, age] = ["request_log", "request_log_statuses", "request_log_age"].map((name) =>
      names.of(name),
    ) as [string, string, string];
    await addIndex(knex, columns, log, statuses, (table) => {
      table.index(["created_at", "status", "request_count"], statuses);
    });
    // Rows are found by age in the new one.
    if (await columns.hasIndex(knex, log, age)) {
      await knex.schema.alterTable(log, (table) => void table.dropIndex([], age));
    }
    const [entries, time] = [names.of("ledger_entries"), names.of("ledger_entries_time")];
    await addIndex(knex, columns, entries, time, (table) => {
      table.index(["created_at", "kind", "monthly", "pack", "spent"], time);
    });
    const [attempts, ended] = [names.of("job_attempts"), names.of("job_attempts_ended")];
    await addIndex(knex, columns, attempts, ended, (table) => {
      const indexed = ["ended_at", "provider_id", "state", "loss", "accepted_at"];
      columns.indexWhereSet(knex, table, indexed, "ended_at", { name: ended });
    });
  },
};
