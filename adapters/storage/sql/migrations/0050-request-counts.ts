import { addColumn, addIndex, createClustered, type Migration } from "./migration.js";

/** The row of `installation` that says how far the log is counted; absent once all rows are. */
export const COUNTED_UP_TO = "request_log_counted_up_to";

export interface CountedUpTo {
  /** The last id whose row is counted. */
  readonly id: string;
  /** Processes of the version before may be running until this moment, and write rows that are not counted. */
  readonly others: number;
  /** Whether this goes through the rows of that time once more. */
  readonly isLast: boolean;
}

const UPGRADED_WITHIN_MS = 86_400_000;

export function countedUpTo(now: number): string {
  return JSON.stringify({ id: "", others: now + UPGRADED_WITHIN_MS, isLast: false } satisfies CountedUpTo);
}

/**
 * Requests are counted by account, span of time, client, route and status. Rows that are there are counted by a task in
 * small steps, while the service runs, and for a day those that processes of the version before write: until then it
 * counts the log.
 */
export const requestCounts: Migration = {
  name: "0050-request-counts",
  creates: ["request_counts"],
  async up(knex, columns, names) {
    const [counts, log, age] = [names.of("request_counts"), names.of("request_log"), names.of("request_counts_age")];
    await createClustered(knex, columns, counts, (table) => {
      columns.id(table, "account_id").notNullable();
      columns.words(table, "client", 101).notNullable();
      columns.id(table, "span", 4).notNullable();
      columns.integer(table, "starts_at").notNullable();
      columns.words(table, "route", 100).notNullable();
      table.smallint("status").notNullable();
      columns.integer(table, "requests").notNullable();
      table.primary(["account_id", "client", "span", "starts_at", "route", "status"]);
    });
    await addIndex(knex, columns, counts, age, (table) => void table.index(["starts_at"], age));
    await addColumn(knex, log, "is_counted", (table, column) => table.tinyint(column));
    const isUsed = async (name: string): Promise<boolean> => (await knex(name).select("id").limit(1)).length > 0;
    const installation = knex(names.of("installation"));
    const begun = await installation.clone().where({ name: COUNTED_UP_TO }).select("name");
    if (begun.length === 0 && ((await isUsed(log)) || (await isUsed(names.of("accounts")))))
      await installation.insert({ name: COUNTED_UP_TO, value: countedUpTo(Date.now()) });
  },
};
