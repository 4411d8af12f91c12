import { LEDGER_ENTRIES, toLedgerEntryRow } from "../../adapters/storage/sql/ledger/ledger-tables.js";
import { type AttemptRow, JOB_ATTEMPTS } from "../../adapters/storage/sql/jobs/attempt-table.js";
import { JOBS, type JobRow, toJobRow } from "../../adapters/storage/sql/jobs/job-tables.js";
import type { Table } from "../../adapters/storage/sql/session.js";
import { ALL_CLIENTS } from "../../adapters/storage/sql/usage/clients.js";
import { startOf } from "../../adapters/storage/sql/usage/count-spans.js";
import { CREDIT_SUMS, type CreditSumRow } from "../../adapters/storage/sql/usage/credit-sums.js";
import { toRequestRow } from "../../adapters/storage/sql/usage/request-log-table.js";
import { WEBHOOK_DELIVERIES, WEBHOOK_EVENTS } from "../../adapters/storage/sql/webhooks/webhook-tables.js";
import type { AccountId, IdByPrefix, IdPrefix, WebhookEndpointId } from "../../core/ids.js";
import { firstIdAt } from "../../core/ids.js";
import type { Job, JobAttempt } from "../../core/jobs/job.js";
import { aJob, aJobRequest, aLoggedRequest, anAttempt } from "../support/builders.js";
import { aDelivery, anEvent } from "../support/webhook-builders.js";
import { openWriter, type Writer } from "./bulk-writer.js";
import { LogWriter } from "./log-writer.js";
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
  const place = placeOf(grown, n);
  return { ...jobAt(place), requestId: idAt("req", place.createdAt, n) };
}

/**
 * Fills a storage: ended jobs of 300 days with their attempts and ledger entries, a month of events with deliveries, a
 * tenth as many, a month of the log with as many rows and its counts, and a library of a tenth as many tracks. Each job
 * has a request of its own.
 */
export async function fillGrown(url: string, grown: Grown): Promise<void> {
  const writer = await openWriter(url);
  const log = new LogWriter(writer);
  const seqs = new Map<AccountId, number>();
  const sums = new Map<string, CreditSumRow>();
  for (let start = 0; start < grown.jobs; start += BATCH) {
    const numbers = Array.from({ length: Math.min(BATCH, grown.jobs - start) }, (_, index) => start + index);
    await writeJobs(writer, grown, numbers, seqs);
    addCredits(
      sums,
      numbers.map((n) => placeOf(grown, n)),
    );
    await writeEvents(writer, grown, numbers);
    await log.write(
      numbers.map((n) => {
        const createdAt = monthOf(grown, n);
        const route = n % 3 === 0 ? "/api/v1/credits" : "/api/v1/jobs/{id}";
        const status = n % 50 === 0 ? 404 : 200;
        const id = idAt("req", createdAt, n);
        return { ...REQUEST, id, account_id: accountOf(grown, n), created_at: createdAt, route, status };
      }),
    );
  }
  await writer.write(CREDIT_SUMS, [...sums.values()]);
  await log.close();
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
  const jobs = numbers.map((n) => ({ n, ...placeOf(grown, n) }));
  type Row = ReturnType<typeof toJobRow> & { readonly end_number: number };
  const numbered: Table<Row> = { ...JOBS, columns: [...JOBS.columns, "end_number"] };
  await writer.write(numbered, jobs.map(jobRow));
  await writer.write(JOB_ATTEMPTS, jobs.map(attemptRow));
  await writer.write(
    LEDGER_ENTRIES,
    jobs.flatMap(({ id: job_id, accountId: account_id, createdAt: created_at, isFailed }) => {
      // The first entry is that of the account's grant.
      const seq = (seqs.get(account_id) ?? 1) + 2;
      seqs.set(account_id, seq);
      const of = { account_id, job_id, created_at };
      const [reserved, settled] = [ENTRIES.reserve, isFailed ? ENTRIES.refund : ENTRIES.charge];
      return [
        { ...reserved, ...of, seq: seq - 1 },
        { ...settled, ...of, seq },
      ];
    }),
  );
}

/** Where and when a job is, and how it ended. */
type Place = Pick<Job, "id" | "accountId" | "createdAt"> & { readonly isFailed: boolean };

function placeOf(grown: Grown, n: number): Place {
  const createdAt = Math.floor(grown.now - JOBS_WITHIN_MS * (1 - n / grown.jobs)) - DAY_MS;
  return { id: idAt("job", createdAt, n), accountId: accountOf(grown, n), createdAt, isFailed: n % 100 < 10 };
}

function jobAt({ isFailed, createdAt, ...place }: Place): Job {
  return aJob({
    ...{ ...place, createdAt, completedAt: createdAt + 20_000 },
    ...{ status: isFailed ? "failed" : "completed", phase: "ended", dueAt: null, attempt: 1, fence: 2 },
    creditsCharged: isFailed ? 0 : COST,
    error: isFailed ? { code: "generation_failed", message: "The provider failed." } : null,
    reserved: { monthly: 0, pack: COST },
    ...{ requestId: idAt("req", createdAt, 0), requestedAt: createdAt, request: aJobRequest({ prompt: PROMPT }) },
  });
}

function attemptAt({ id: jobId, createdAt: startedAt, isFailed }: Place): JobAttempt {
  return anAttempt({
    ...{ jobId, startedAt, acceptedAt: startedAt + 500, finishedAt: startedAt + 19_000 },
    ...{ endedAt: startedAt + 20_000, billable: "yes" },
    ...(isFailed ? { state: "failed", outcome: "failed" } : { state: "settled", outcome: "completed" }),
  });
}

/**
 * Rows as the stores write them, of which the others are copies in all but the columns that differ: writing each from
 * its record took most of the time of a filling.
 */
const ANY: Omit<Place, "isFailed"> = { id: idAt("job", 0, 0), accountId: "acct_", createdAt: 0 };
const FATES = [false, true].map((isFailed) => ({ ...ANY, isFailed }));
const [JOB, FAILED_JOB] = FATES.map((place) => toJobRow(jobAt(place))) as [JobRow, JobRow];
const [ATTEMPT, FAILED_ATTEMPT] = FATES.map((place) => JOB_ATTEMPTS.toRow(attemptAt(place))) as [
  AttemptRow,
  AttemptRow,
];
const ENTRY = { ...{ accountId: ANY.accountId, jobId: ANY.id, seq: 0, createdAt: 0 }, monthly: 0, reservedMonthly: 0 };
const REQUEST = toRequestRow(aLoggedRequest());
const ENTRIES = {
  reserve: toLedgerEntryRow({ ...ENTRY, kind: "reserve", pack: -COST, reservedPack: COST, spent: 0, reference: null }),
  charge: toLedgerEntryRow({ ...ENTRY, kind: "charge", pack: 0, reservedPack: -COST, spent: COST, reference: null }),
  refund: toLedgerEntryRow({ ...ENTRY, kind: "refund", pack: COST, reservedPack: -COST, spent: 0, reference: null }),
};

function jobRow({ n, id, accountId, createdAt, isFailed }: Place & { readonly n: number }) {
  const times = { requested_at: createdAt, created_at: createdAt, completed_at: createdAt + 20_000 };
  const names = { id, account_id: accountId, request_id: idAt("req", createdAt, n) };
  return { ...(isFailed ? FAILED_JOB : JOB), ...names, ...times, end_number: n + 1 };
}

/** Adds what jobs cost to the sums of their hours. */
function addCredits(sums: Map<string, CreditSumRow>, jobs: readonly Place[]): void {
  for (const { accountId, createdAt, isFailed } of jobs) {
    const startsAt = startOf(createdAt, "hour");
    const key = `${accountId} ${startsAt}`;
    const { used = 0, refunded = 0 } = sums.get(key) ?? {};
    const credits = { used: used + COST, refunded: refunded + (isFailed ? COST : 0) };
    sums.set(key, { account_id: accountId, client: ALL_CLIENTS, starts_at: startsAt, kind: "music", ...credits });
  }
}

function attemptRow({ n, id, createdAt, isFailed }: Place & { readonly n: number }): AttemptRow {
  const { accepted_at, finished_at, ended_at, ...row } = isFailed ? FAILED_ATTEMPT : ATTEMPT;
  return {
    ...{ ...row, id: idAt("att", createdAt, n), job_id: id, started_at: createdAt },
    accepted_at: createdAt + Number(accepted_at),
    finished_at: createdAt + Number(finished_at),
    ended_at: createdAt + Number(ended_at),
  };
}

async function writeEvents(writer: Writer, grown: Grown, numbers: readonly number[]): Promise<void> {
  const { endpointId } = grown;
  const events = numbers
    .filter((n) => n % 10 === 0)
    .map((n) => {
      const createdAt = monthOf(grown, n);
      const { id: jobId } = placeOf(grown, n);
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
