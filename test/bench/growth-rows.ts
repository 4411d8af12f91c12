import { LEDGER_ENTRIES, toLedgerEntryRow } from "../../adapters/storage/sql/ledger/ledger-tables.js";
import { JOB_ATTEMPTS } from "../../adapters/storage/sql/jobs/attempt-table.js";
import { JOBS, toJobRow } from "../../adapters/storage/sql/jobs/job-tables.js";
import type { Table } from "../../adapters/storage/sql/session.js";
import { REQUEST_LOG, toRequestRow } from "../../adapters/storage/sql/usage/request-log-table.js";
import { WEBHOOK_DELIVERIES, WEBHOOK_EVENTS } from "../../adapters/storage/sql/webhooks/webhook-tables.js";
import type { LedgerEntry } from "../../core/credits/balance.js";
import type { AccountId, IdByPrefix, IdPrefix, WebhookEndpointId } from "../../core/ids.js";
import { firstIdAt } from "../../core/ids.js";
import type { Job } from "../../core/jobs/job.js";
import { aJob, aJobRequest, aLoggedRequest, anAttempt } from "../support/builders.js";
import { aDelivery, anEvent } from "../support/webhook-builders.js";
import { openWriter, type Writer } from "./bulk-writer.js";
import { fillLibrary, Language, random, tracksOf } from "./search-corpus.js";

const DAY_MS = 86_400_000;
const MONTH_MS = 30 * DAY_MS;
/** Younger than any retention, so that nothing is due. */
const JOBS_WITHIN_MS = 300 * DAY_MS;
const BATCH = 20_000;
const COST = 10;
const OTHERS = 1_000;
const PROMPT = "slow rain on a tin roof, brushed drums and an upright piano, warm and unhurried";

/** An installation that has run for long. One account has a tenth of everything. */
export interface Grown {
  readonly now: number;
  readonly jobs: number;
  readonly heavy: AccountId;
  readonly endpointId: WebhookEndpointId;
}

/** The id of the n-th of its kind, created at a moment. */
function idAt<P extends IdPrefix>(prefix: P, time: number, n: number): IdByPrefix[P] {
  return (firstIdAt(prefix, time).slice(0, -10) + String(n).padStart(10, "0")) as IdByPrefix[P];
}

export function accountOf({ heavy }: Pick<Grown, "heavy">, n: number): AccountId {
  return n % 10 === 0 ? heavy : `acct_${String(1 + (n % OTHERS)).padStart(26, "0")}`;
}

/** The n-th of all jobs, in the order of their creation; every tenth has failed. */
export function jobOf(grown: Grown, n: number): Job {
  const createdAt = Math.floor(grown.now - JOBS_WITHIN_MS * (1 - n / grown.jobs)) - DAY_MS;
  const isFailed = n % 100 < 10;
  return aJob({
    id: idAt("job", createdAt, n),
    accountId: accountOf(grown, n),
    createdAt,
    completedAt: createdAt + 20_000,
    ...{ status: isFailed ? "failed" : "completed", phase: "ended", dueAt: null, attempt: 1, fence: 2 },
    creditsCharged: isFailed ? 0 : COST,
    error: isFailed ? { code: "generation_failed", message: "The provider failed." } : null,
    reserved: { monthly: 0, pack: COST },
    request: aJobRequest({ prompt: PROMPT }),
  });
}

/**
 * Fills a storage: ended jobs of 300 days with their attempts and ledger entries, a month of events with deliveries, a
 * tenth as many, a month of the log with as many rows, and a library of a tenth as many tracks.
 */
export async function fillGrown(url: string, grown: Grown): Promise<void> {
  const writer = await openWriter(url);
  const seqs = new Map<AccountId, number>();
  for (let start = 0; start < grown.jobs; start += BATCH) {
    const numbers = Array.from({ length: Math.min(BATCH, grown.jobs - start) }, (_, index) => start + index);
    await writeJobs(writer, grown, numbers, seqs);
    await writeEvents(writer, grown, numbers);
    await writer.write(
      REQUEST_LOG,
      numbers.map((n) => {
        const createdAt = monthOf(grown, n);
        const route = n % 3 === 0 ? "/api/v1/credits" : "/api/v1/jobs/{id}";
        const status = n % 50 === 0 ? 404 : 200;
        const id = idAt("req", createdAt, n);
        return toRequestRow(aLoggedRequest({ id, accountId: accountOf(grown, n), createdAt, route, status }));
      }),
    );
  }
  await writer.close();
  const roll = random(1);
  await fillLibrary(url, tracksOf(new Language(roll), roll, grown.jobs / 10));
}

async function writeJobs(
  writer: Writer,
  grown: Grown,
  numbers: readonly number[],
  seqs: Map<AccountId, number>,
): Promise<void> {
  const jobs = numbers.map((n) => ({ n, job: jobOf(grown, n) }));
  type Row = ReturnType<typeof toJobRow> & { readonly end_number: number };
  const numbered: Table<Row> = { ...JOBS, columns: [...JOBS.columns, "end_number"] };
  await writer.write(
    numbered,
    jobs.map(({ n, job }) => ({ ...toJobRow(job), end_number: n + 1 })),
  );
  await writer.write(
    JOB_ATTEMPTS,
    jobs.map(({ job: { id: jobId, status, createdAt: startedAt } }) =>
      JOB_ATTEMPTS.toRow(
        anAttempt({
          ...{ jobId, startedAt, acceptedAt: startedAt + 500, finishedAt: startedAt + 19_000 },
          ...{ endedAt: startedAt + 20_000, billable: "yes" },
          ...(status === "completed"
            ? { state: "settled", outcome: "completed" }
            : { state: "failed", outcome: "failed" }),
        }),
      ),
    ),
  );
  await writer.write(
    LEDGER_ENTRIES,
    jobs.flatMap(({ job: { id: jobId, accountId, status, createdAt } }) => {
      // The first entry is that of the account's grant.
      const seq = (seqs.get(accountId) ?? 1) + 2;
      seqs.set(accountId, seq);
      const entry = { accountId, jobId, monthly: 0, reservedMonthly: 0, reference: null, createdAt };
      const isFailed = status === "failed";
      const entries: readonly LedgerEntry[] = [
        { ...entry, seq: seq - 1, kind: "reserve", pack: -COST, reservedPack: COST, spent: 0 },
        {
          ...{ ...entry, seq, pack: isFailed ? COST : 0, reservedPack: -COST, spent: isFailed ? 0 : COST },
          kind: isFailed ? "refund" : "charge",
        },
      ];
      return entries.map(toLedgerEntryRow);
    }),
  );
}

async function writeEvents(writer: Writer, grown: Grown, numbers: readonly number[]): Promise<void> {
  const { endpointId } = grown;
  const events = numbers
    .filter((n) => n % 10 === 0)
    .map((n) => {
      const createdAt = monthOf(grown, n);
      const { id: jobId } = jobOf(grown, n);
      const accountId = accountOf(grown, n / 10);
      return anEvent({ id: idAt("evt", createdAt, n), accountId, jobId, number: n + 1, createdAt });
    });
  await writer.write(WEBHOOK_EVENTS, events.map(WEBHOOK_EVENTS.toRow));
  const deliveries = events.map(({ id: eventId, createdAt }, index) =>
    aDelivery({
      ...{ id: idAt("dlv", createdAt, (numbers[0] ?? 0) + index), eventId, endpointId, createdAt },
      ...{ state: "delivered", attempts: 1, dueAt: null, endedAt: createdAt + 100 },
    }),
  );
  await writer.write(WEBHOOK_DELIVERIES, deliveries.map(WEBHOOK_DELIVERIES.toRow));
}

function monthOf({ now, jobs }: Grown, n: number): number {
  // A little younger than what is kept.
  return Math.floor(now - (MONTH_MS - DAY_MS) * (1 - n / jobs));
}
