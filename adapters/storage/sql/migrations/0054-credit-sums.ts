import { addIndex, createClustered, type Migration } from "./migration.js";

/** The row of `installation` that says how far credits of jobs from before are summed; absent once all are. */
export const CREDITS_SUMMED_UP_TO = "credits_summed_up_to";

export interface CreditsSummedUpTo {
  /** The account that is gone through, or the last one that was. */
  readonly accountId: string;
  /** From which hour on its jobs are still to be summed; null: it is done. */
  readonly from: number | null;
  /** Processes of the version before may be running until this moment, and end jobs that are in no sum. */
  readonly others: number;
}

const UPGRADED_WITHIN_MS = 86_400_000;

export function creditsSummedUpTo(now: number): string {
  return JSON.stringify({ accountId: "", from: null, others: now + UPGRADED_WITHIN_MS } satisfies CreditsSummedUpTo);
}

/**
 * Credits of ended jobs are summed by account, client, hour of their request and kind. A task sums those that are there
 * a day later, when no process of the version before ends jobs any more: until then usage sums job by job.
 */
export const creditSums: Migration = {
  name: "0054-credit-sums",
  creates: ["credit_sums"],
  async up(knex, columns, names) {
    const [sums, age] = [names.of("credit_sums"), names.of("credit_sums_age")];
    await createClustered(knex, columns, sums, (table) => {
      columns.id(table, "account_id").notNullable();
      columns.words(table, "client", 101).notNullable();
      columns.integer(table, "starts_at").notNullable();
      columns.id(table, "kind", 30).notNullable();
      columns.integer(table, "used").notNullable();
      columns.integer(table, "refunded").notNullable();
      table.primary(["account_id", "client", "starts_at", "kind"]);
    });
    await addIndex(knex, columns, sums, age, (table) => void table.index(["starts_at"], age));
    const installation = knex(names.of("installation"));
    const begun = await installation.clone().where({ name: CREDITS_SUMMED_UP_TO }).select("name");
    if (begun.length === 0 && (await knex(names.of("accounts")).select("id").limit(1)).length > 0)
      await installation.insert({ name: CREDITS_SUMMED_UP_TO, value: creditsSummedUpTo(Date.now()) });
  },
};
