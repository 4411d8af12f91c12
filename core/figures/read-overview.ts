import { findSubmissions, type SubmissionState } from "../execution/submission-switch.js";
import { findLedgerWatch } from "../maintenance/watch-ledger.js";
import type { ActivityStore } from "../ports/activity-store.js";
import type { Clock } from "../ports/clock.js";
import type { InstallationStore } from "../ports/installation-store.js";
import type { WebhookStore } from "../ports/webhook-store.js";
import type { ProviderReport, ReportProviders } from "../providers/report-providers.js";
import { cached } from "./cached.js";
import { RecentActivity, type RecentActivityReport } from "./recent-activity.js";

/** How an installation is doing: what is under way, and what happened in the last hour and the last day. */
export interface Overview extends RecentActivityReport {
  /** When it was read. */
  readonly at: number;
  readonly submissions: SubmissionState;
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
    const [list, deliveriesPending, watch, submissions, recent] = await Promise.all([
      providers.list(),
      webhooks.countPending(),
      findLedgerWatch(installation),
      findSubmissions(installation),
      this.recent.report(),
    ]);
    const ledger =
      watch === null ? null : { violations: Math.max(watch.found, watch.foundBefore), checkedAt: watch.checkedAt };
    return { at, submissions: submissions.state, providers: list, deliveriesPending, ledger, ...recent };
  }
}
