import { findSubmissions, type SubmissionState } from "../execution/submission-switch.js";
import { findLedgerWatch } from "../maintenance/watch-ledger.js";
import type { ActivityStore } from "../ports/activity-store.js";
import type { Clock } from "../ports/clock.js";
import type { InstallationStore } from "../ports/installation-store.js";
import type { WebhookStore } from "../ports/webhook-store.js";
import type { ProviderReport, ReportProviders } from "../providers/report-providers.js";
import { cached } from "./cached.js";
import { findQueueAges, queueAgesBySteps } from "./queue-ages.js";
import { type ActivitySeries, RecentActivity, type RecentActivityReport } from "./recent-activity.js";

/** How an installation is doing: what is under way, and what happened in the last hour and the last day. */
export interface Overview extends RecentActivityReport {
  /** When it was read. */
  readonly at: number;
  readonly submissions: SubmissionState;
  /** For how long the waiting job that is due the longest has been due, in milliseconds; 0 when none is. */
  readonly queueAgeMs: number;
  /** The highest in each step of the last hour and the last day, in milliseconds; null: not known. */
  readonly queueAges: { readonly hour: readonly (number | null)[]; readonly day: readonly (number | null)[] };
  readonly providers: readonly ProviderReport[];
  /** Webhook deliveries that wait for their first or next attempt. */
  readonly deliveriesPending: number;
  /** What the watch of the ledger found; null before it has begun. */
  readonly ledger: { readonly violations: number; readonly checkedAt: number } | null;
}

export interface ReadOverviewDeps {
  readonly providers: Pick<ReportProviders, "list">;
  readonly webhooks: Pick<WebhookStore, "countPending">;
  readonly installation: Pick<InstallationStore, "find">;
  readonly activity: ActivityStore;
  readonly clock: Clock;
}

/** However many operators look, the storage is read this often at most. */
export const OVERVIEW_EVERY_MS = 5_000;

/** The overview of an installation, the same for every operator. */
export class ReadOverview {
  private readonly recent: RecentActivity;
  private readonly latest: () => Promise<Overview>;

  constructor(private readonly deps: ReadOverviewDeps) {
    this.recent = new RecentActivity(deps);
    this.latest = cached(() => this.readNow(), OVERVIEW_EVERY_MS, deps.clock);
  }

  /** As of at most {@link OVERVIEW_EVERY_MS} ago. @throws {ServiceUnavailableError} the storage cannot be reached */
  read(): Promise<Overview> {
    return this.latest();
  }

  private async readNow(): Promise<Overview> {
    const { providers, webhooks, installation, clock } = this.deps;
    const at = clock.now();
    const [list, deliveriesPending, watch, submissions, kept, recent] = await Promise.all([
      providers.list(),
      webhooks.countPending(),
      findLedgerWatch(installation),
      findSubmissions(installation),
      findQueueAges(installation),
      this.recent.report(),
    ]);
    const ledger =
      watch === null ? null : { violations: Math.max(watch.found, watch.foundBefore), checkedAt: watch.checkedAt };
    const queueAgeMs = Math.max(0, ...list.map((provider) => provider.queueAgeMs));
    const ages = [...kept, { at, ms: queueAgeMs }];
    const agesIn = ({ from, stepMs, steps }: ActivitySeries): (number | null)[] =>
      queueAgesBySteps(ages, { from, stepMs, count: steps.length });
    return {
      at,
      submissions: submissions.state,
      queueAgeMs,
      queueAges: { hour: agesIn(recent.hour), day: agesIn(recent.day) },
      providers: list,
      deliveriesPending,
      ledger,
      ...recent,
    };
  }
}
