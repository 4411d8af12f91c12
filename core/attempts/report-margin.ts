import type { JobId } from "../ids.js";
import { type AttemptLoss, isFinal, type Job, type JobAttempt } from "../jobs/job.js";
import type { JobsCursor, JobStore } from "../ports/job-store.js";
import { purchaseOf } from "./purchases.js";
import { type ShownAttempt, shownAttempt, type ShownJob, shownJob } from "../jobs/shown-job.js";

/** Amounts by unit: a currency, or a provider's own credits. */
export type Amounts = Readonly<Record<string, number>>;

/** Outcomes of the attempts that providers accepted. */
export interface Purchases {
  /** Attempts that the provider is known to have accepted; those of ended jobs are delivered or wasted. */
  readonly bought: number;
  /** Attempts that their job completed with. */
  readonly delivered: number;
  /** Attempts that were bought without a result for their job. */
  readonly wasted: number;
  /** Attempts that were given up and may have been bought: their acceptance never became known. */
  readonly perhaps: number;
  /** Wasted attempts by reason. */
  readonly reasons: Readonly<Partial<Record<AttemptLoss, number>>>;
}

/** Revenue and cost of one provider. */
export interface ProviderMargin extends Purchases {
  readonly providerId: string;
  /** Ended jobs whose last provider it was. */
  readonly completed: number;
  readonly failed: number;
  /** Whole credits that accounts paid for its completed jobs. */
  readonly creditsCharged: number;
  /** Attempts at this provider, including those of jobs that ended at another one. */
  readonly attempts: number;
  /** Billed cost, or expected cost where the provider does not report it. */
  readonly billed: Amounts;
  /** Cost that it may have billed. */
  readonly possiblyBilled: Amounts;
  /** The part of both that belongs to refunded jobs. */
  readonly refunded: Amounts;
}

/** Attempts that a provider accepted on one day. */
export interface DayPurchases extends Purchases {
  /** `2026-11-21`: the day of acceptance, or of the call where no acceptance is known, in UTC. */
  readonly day: string;
  readonly providerId: string;
}

/** An attempt that the provider billed, or may have billed, for a job that was refunded. */
export interface RefundedAttempt {
  readonly job: ShownJob;
  readonly attempt: ShownAttempt;
}

export interface MarginReport {
  readonly from: number;
  readonly to: number;
  /** By provider, in alphabetical order. */
  readonly providers: readonly ProviderMargin[];
  /** By day, and by provider in alphabetical order. */
  readonly days: readonly DayPurchases[];
  /** Attempts paid at a provider for refunded jobs: newest first, at most the requested number. */
  readonly refunded: readonly RefundedAttempt[];
  /** The total number of them. */
  readonly refundedCount: number;
}

export interface MarginQuery {
  /** Jobs created at or after this moment, in milliseconds since 1970. */
  readonly from: number;
  /** Jobs created before this moment. */
  readonly to: number;
  /** Most refunded attempts to list. */
  readonly refundedLimit: number;
}

type Mutable<T> = {
  -readonly [K in keyof T]: T[K] extends number | string ? T[K] : { -readonly [M in keyof T[K]]: T[K][M] };
};

const PAGE = 500;
const DAY_MS = 86_400_000;

export interface ReportMarginDeps {
  readonly jobs: Pick<JobStore, "listEnded" | "attemptsOf">;
}

/** Compares what accounts paid for ended jobs with the cost of each attempt at its provider, failed ones included. */
export class ReportMargin {
  constructor(private readonly deps: ReportMarginDeps) {}

  /** What the ended jobs of a span of time brought in and cost, by provider and day; paid attempts of refunded ones. */
  async report({ from, to, refundedLimit }: MarginQuery): Promise<MarginReport> {
    const sums = new Sums();
    const refunded: RefundedAttempt[] = [];
    let refundedCount = 0;
    for await (const page of this.pages(from, to)) {
      const attempts = await this.deps.jobs.attemptsOf(page.map(({ id }) => id));
      for (const job of page) {
        countJob(sums.of(job.providerId), job);
        for (const attempt of attempts.get(job.id) ?? []) {
          countPurchase(sums, attempt);
          if (!countCost(sums.of(attempt.providerId), job, attempt)) continue;
          refundedCount += 1;
          refunded.push({ job: shownJob(job), attempt: shownAttempt(attempt) });
          if (refunded.length > refundedLimit) refunded.shift();
        }
      }
    }
    return { from, to, providers: sums.providers(), days: sums.days(), refunded: refunded.reverse(), refundedCount };
  }

  /** Ended jobs, the oldest first. */
  private async *pages(from: number, to: number): AsyncGenerator<readonly Job[]> {
    let after: JobsCursor = { createdAt: from, id: "" as JobId };
    for (;;) {
      const page = await this.deps.jobs.listEnded(after, to, PAGE);
      if (page.length > 0) yield page;
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE) return;
      after = { createdAt: last.createdAt, id: last.id };
    }
  }
}

/** The sums of each provider, and of each day and provider. */
class Sums {
  private readonly byProvider = new Map<string, Mutable<ProviderMargin>>();
  /** By the day's number since 1970, then by provider. */
  private readonly byDay = new Map<number, Map<string, Mutable<Purchases>>>();

  of(providerId: string): Mutable<ProviderMargin> {
    const found = this.byProvider.get(providerId);
    if (found !== undefined) return found;
    const jobs = { completed: 0, failed: 0, creditsCharged: 0 };
    const added = { providerId, ...jobs, attempts: 0, billed: {}, possiblyBilled: {}, refunded: {}, ...noPurchases() };
    this.byProvider.set(providerId, added);
    return added;
  }

  ofDay(at: number, providerId: string): Mutable<Purchases> {
    const day = Math.floor(at / DAY_MS);
    const ofDay = this.byDay.get(day) ?? new Map<string, Mutable<Purchases>>();
    const found = ofDay.get(providerId) ?? noPurchases();
    this.byDay.set(day, ofDay.set(providerId, found));
    return found;
  }

  providers(): ProviderMargin[] {
    return [...this.byProvider.values()].sort((a, b) => (a.providerId < b.providerId ? -1 : 1));
  }

  days(): DayPurchases[] {
    return [...this.byDay]
      .sort(([a], [b]) => a - b)
      .flatMap(([day, ofDay]) => {
        const providers = [...ofDay].sort(([a], [b]) => (a < b ? -1 : 1));
        const name = new Date(day * DAY_MS).toISOString().slice(0, 10);
        return providers.map(([providerId, purchases]) => ({ day: name, providerId, ...purchases }));
      });
  }
}

function noPurchases(): Mutable<Purchases> {
  return { bought: 0, delivered: 0, wasted: 0, perhaps: 0, reasons: {} };
}

function countJob(sums: Mutable<ProviderMargin>, job: Job): void {
  if (!isFinal(job.status)) return;
  if (job.status === "completed") sums.completed += 1;
  else sums.failed += 1;
  sums.creditsCharged += job.creditsCharged;
}

function countPurchase(sums: Sums, attempt: JobAttempt): void {
  const purchase = purchaseOf(attempt);
  if (purchase === "none") return;
  const { providerId, acceptedAt, startedAt, loss } = attempt;
  for (const counted of [sums.of(providerId), sums.ofDay(acceptedAt ?? startedAt, providerId)]) {
    if (purchase !== "perhaps") counted.bought += 1;
    if (purchase !== "under_way") counted[purchase] += 1;
    if (purchase === "wasted" && loss !== null) counted.reasons[loss] = (counted.reasons[loss] ?? 0) + 1;
  }
}

/** @returns whether it was billed, or may have been, for a refunded job */
function countCost(sums: Mutable<ProviderMargin>, job: Job, { cost, billable }: JobAttempt): boolean {
  sums.attempts += 1;
  // A lost worker could not record the provider's reply.
  if (billable === "no") return false;
  if (cost !== null) {
    add(billable === "yes" ? sums.billed : sums.possiblyBilled, cost.unit, cost.amount);
    if (job.status === "failed") add(sums.refunded, cost.unit, cost.amount);
  }
  return job.status === "failed";
}

/** Amounts have few decimals; rounding removes floating-point errors from their sums. */
function add(amounts: Record<string, number>, unit: string, amount: number): void {
  amounts[unit] = Math.round(((amounts[unit] ?? 0) + amount) * 1e9) / 1e9;
}
