import type { JobId } from "../ids.js";
import { isFinal, type Job, type JobAttempt } from "../jobs/job.js";
import type { EndedJobsCursor, JobStore } from "../ports/job-store.js";

/** Amounts by unit: a currency, or a provider's own credits. */
export type Amounts = Readonly<Record<string, number>>;

/** What one provider brought in and cost. */
export interface ProviderBooks {
  readonly providerId: string;
  /** Jobs that it ended: as their last provider. */
  readonly completed: number;
  readonly failed: number;
  /** Whole credits that accounts paid for its completed jobs. */
  readonly creditsCharged: number;
  /** Tries of it, those of jobs that another one ended included. */
  readonly attempts: number;
  /** What it billed, or is expected to have billed where it does not tell. */
  readonly billed: Amounts;
  /** What it may have billed: nobody knows. */
  readonly perhapsBilled: Amounts;
  /** Of both, what went into jobs that were refunded. */
  readonly lost: Amounts;
}

/** A try that the provider billed, or may have billed, for a job whose credits went back. */
export interface LostAttempt {
  readonly job: Job;
  readonly attempt: JobAttempt;
}

export interface MarginReport {
  readonly from: number;
  readonly to: number;
  /** By provider, in alphabetical order. */
  readonly providers: readonly ProviderBooks[];
  /** "Paid upstream, refunded below": the newest first, no more than were asked for. */
  readonly lost: readonly LostAttempt[];
  /** How many there are. */
  readonly lostCount: number;
}

export interface MarginQuery {
  /** Jobs made at or after this moment, in milliseconds since 1970. */
  readonly from: number;
  /** Jobs made before this moment. */
  readonly to: number;
  /** Most lost attempts to list. */
  readonly lostLimit: number;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] extends Amounts ? Record<string, number> : T[K] };

const PAGE = 500;

/** Two books side by side: what accounts paid for ended jobs, and what each attempt cost at its provider, failed ones included. */
export class ReportMargin {
  constructor(private readonly jobs: Pick<JobStore, "listEnded" | "attemptsOf">) {}

  async report({ from, to, lostLimit }: MarginQuery): Promise<MarginReport> {
    const books = new Map<string, Mutable<ProviderBooks>>();
    const lost: LostAttempt[] = [];
    let lostCount = 0;
    for await (const page of this.pages(from, to)) {
      const attempts = await this.jobs.attemptsOf(page.map(({ id }) => id));
      for (const job of page) {
        countJob(booksOf(books, job.providerId), job);
        for (const attempt of attempts.get(job.id) ?? []) {
          if (!countAttempt(booksOf(books, attempt.providerId), job, attempt)) continue;
          lostCount += 1;
          lost.push({ job, attempt });
          if (lost.length > lostLimit) lost.shift();
        }
      }
    }
    const providers = [...books.values()].sort((a, b) => (a.providerId < b.providerId ? -1 : 1));
    return { from, to, providers, lost: lost.reverse(), lostCount };
  }

  /** Ended jobs, the oldest first. */
  private async *pages(from: number, to: number): AsyncGenerator<readonly Job[]> {
    let after: EndedJobsCursor = { createdAt: from, id: "" as JobId };
    for (;;) {
      const page = await this.jobs.listEnded(after, to, PAGE);
      if (page.length > 0) yield page;
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE) return;
      after = { createdAt: last.createdAt, id: last.id };
    }
  }
}

function booksOf(books: Map<string, Mutable<ProviderBooks>>, providerId: string): Mutable<ProviderBooks> {
  const found = books.get(providerId) ?? {
    providerId,
    completed: 0,
    failed: 0,
    creditsCharged: 0,
    attempts: 0,
    billed: {},
    perhapsBilled: {},
    lost: {},
  };
  books.set(providerId, found);
  return found;
}

function countJob(books: Mutable<ProviderBooks>, job: Job): void {
  if (!isFinal(job.status)) return;
  if (job.status === "completed") books.completed += 1;
  else books.failed += 1;
  books.creditsCharged += job.creditsCharged;
}

/** @returns whether it was billed, or perhaps was, for nothing */
function countAttempt(books: Mutable<ProviderBooks>, job: Job, { cost, billable }: JobAttempt): boolean {
  books.attempts += 1;
  // A worker that was lost in the middle could not write what came back.
  if (billable === "no") return false;
  if (cost !== null) {
    add(billable === "yes" ? books.billed : books.perhapsBilled, cost.unit, cost.amount);
    if (job.status === "failed") add(books.lost, cost.unit, cost.amount);
  }
  return job.status === "failed";
}

/** Amounts have few decimals; sums of them shall not have more for the way in which machines count. */
function add(amounts: Record<string, number>, unit: string, amount: number): void {
  amounts[unit] = Math.round(((amounts[unit] ?? 0) + amount) * 1e9) / 1e9;
}
