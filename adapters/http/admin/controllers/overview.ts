import { Get, Path, Route, Security, Tags } from "@tsoa/runtime";
import type { ActivitySeries } from "../../../../core/figures/recent-activity.js";
import type { Overview } from "../../../../core/figures/read-overview.js";
import type { Activity, ProviderActivity } from "../../../../core/ports/activity-store.js";
import type { HttpDeps } from "../../deps.js";
import { type AdminDeps, adminOf } from "../deps.js";
import { moment } from "../presenters.js";
import { type AdminProvider, presentProvider } from "./installation.js";

/** A figure for each step of time, the oldest first. null: not read yet, a later request has it. */
export type AdminFigures = (number | null)[];

/** What happened, in steps of time; every list has as many figures as there are steps. */
export interface AdminSeries {
  /**
   * When the first step began; the last one is under way.
   * @format date-time
   */
  from: string;
  /** @isInt */
  step_seconds: number;
  /** @isInt */
  steps: number;
  /** Authenticated requests of the public API. */
  requests: {
    total: AdminFigures;
    /** Those that a rate limit refused. */
    refused: AdminFigures;
    client_errors: AdminFigures;
    server_errors: AdminFigures;
  };
  /** The highest of each step; null where it is not known, as no process worked on jobs. */
  queue_age_seconds: AdminFigures;
  jobs: { accepted: AdminFigures; completed: AdminFigures; failed: AdminFigures };
  /** Whole credits that moved. In: granted, renewed. Out: charged, expired. */
  credits: {
    granted: AdminFigures;
    renewed: AdminFigures;
    expired: AdminFigures;
    reserved: AdminFigures;
    charged: AdminFigures;
    refunded: AdminFigures;
  };
  /** Attempts that ended; providers without any are left out. */
  providers: {
    id: string;
    /** Renders that their job completed with. */
    delivered: AdminFigures;
    /** Refused, or ended without a result. */
    failed: AdminFigures;
    /** Bought without a result for the job. */
    wasted: AdminFigures;
  }[];
}

/** How the installation is doing. */
export interface AdminOverview {
  /**
   * When it was read: at most 5 seconds ago.
   * @format date-time
   */
  at: string;
  submissions: "active" | "paused";
  /** Jobs that have not ended, of all providers. */
  jobs: { waiting: number; submitting: number; rendering: number };
  /** For how long the waiting job that is due the longest has been due; 0 when none is. */
  queue_age_seconds: number;
  /** Those that are enabled, and others that have jobs. */
  providers: AdminProvider[];
  /**
   * Webhook deliveries that wait for their first or next attempt.
   * @isInt
   */
  deliveries_pending: number;
  /** What the watch of the ledger found; null before it has begun. */
  ledger: {
    /** @isInt */
    violations: number;
    /** @format date-time */
    checked_at: string;
  } | null;
  /** The last 60 minutes. */
  last_hour: AdminSeries;
  /** The last 24 hours. */
  last_day: AdminSeries;
}

/** What an account may still ask. */
export interface AdminRateLimit {
  /** `read`: all GETs; `generation`: POST /generations; `write`: uploads, and writes of webhook endpoints. */
  kind: "read" | "generation" | "write";
  windows: {
    /** @isInt */
    window_seconds: number;
    /** @isInt */
    limit: number;
    /** @isInt */
    remaining: number;
    /**
     * Until the window ends; the whole window when none is running.
     * @isInt
     */
    reset_seconds: number;
  }[];
}

@Route("admin/v1/overview")
@Tags("Installation")
export class AdminOverviewController {
  private readonly admin: AdminDeps;

  constructor(deps: HttpDeps) {
    this.admin = adminOf(deps);
  }

  /**
   * What is under way, and what happened in the last hour and the last day. After a start, a great installation has
   * read all of the last day after some requests.
   * @summary Show the overview
   */
  @Get()
  @Security("admin", ["read"])
  async getOverview(): Promise<{ data: AdminOverview }> {
    return { data: presentOverview(await this.admin.overview.read()) };
  }
}

@Route("admin/v1/accounts/{id}/rate-limits")
@Tags("Accounts")
export class AdminRateLimitsController {
  private readonly admin: AdminDeps;

  constructor(private readonly deps: HttpDeps) {
    this.admin = adminOf(deps);
  }

  /**
   * What the account may still ask, by its tier. Where `rateLimits.store` is `memory`, that is what this process has
   * counted.
   * @summary Show rate limits
   */
  @Get()
  @Security("admin", ["read"])
  async getRateLimits(@Path() id: string): Promise<{ data: { tier: string; rate_limits: AdminRateLimit[] } }> {
    const account = await this.admin.accounts.get(id);
    const kinds = ["read", "generation", "write"] as const;
    const allowances = await Promise.all(kinds.map((kind) => this.deps.limits.peek(account, kind)));
    const limits = allowances.map(({ kind, windows }) => ({
      kind,
      windows: windows.map(({ windowSeconds, limit, remaining, resetSeconds }) => ({
        window_seconds: windowSeconds,
        limit,
        remaining,
        reset_seconds: resetSeconds,
      })),
    }));
    return { data: { tier: account.tier, rate_limits: limits } };
  }
}

function presentOverview(overview: Overview): AdminOverview {
  const { ledger } = overview;
  const providers = overview.providers.filter(
    ({ enabled, work }) => enabled || work.waiting + work.submitting + work.rendering > 0,
  );
  const sum = (state: "waiting" | "submitting" | "rendering"): number =>
    providers.reduce((total, { work }) => total + work[state], 0);
  return {
    at: moment(overview.at) as string,
    submissions: overview.submissions,
    jobs: { waiting: sum("waiting"), submitting: sum("submitting"), rendering: sum("rendering") },
    queue_age_seconds: overview.queueAgeMs / 1000,
    providers: providers.map(presentProvider),
    deliveries_pending: overview.deliveriesPending,
    ledger: ledger === null ? null : { violations: ledger.violations, checked_at: moment(ledger.checkedAt) as string },
    last_hour: presentSeries(overview.hour, overview.queueAges.hour),
    last_day: presentSeries(overview.day, overview.queueAges.day),
  };
}

function presentSeries({ from, stepMs, steps }: ActivitySeries, ages: readonly (number | null)[]): AdminSeries {
  const figures = (of: (activity: Activity) => number): AdminFigures =>
    steps.map((step) => (step === null ? null : of(step)));
  const ids = new Set(steps.flatMap((step) => step?.providers.map(({ providerId }) => providerId) ?? []));
  const byProvider = (id: string, of: (provider: ProviderActivity) => number): AdminFigures =>
    figures(({ providers }) => {
      const provider = providers.find(({ providerId }) => providerId === id);
      return provider === undefined ? 0 : of(provider);
    });
  return {
    from: moment(from) as string,
    step_seconds: stepMs / 1000,
    steps: steps.length,
    requests: {
      total: figures(({ requests }) => requests.total),
      refused: figures(({ requests }) => requests.refused),
      client_errors: figures(({ requests }) => requests.clientErrors),
      server_errors: figures(({ requests }) => requests.serverErrors),
    },
    queue_age_seconds: ages.map((ms) => (ms === null ? null : ms / 1000)),
    jobs: {
      accepted: figures(({ jobs }) => jobs.accepted),
      completed: figures(({ jobs }) => jobs.completed),
      failed: figures(({ jobs }) => jobs.failed),
    },
    credits: {
      granted: figures(({ credits }) => credits.granted),
      renewed: figures(({ credits }) => credits.renewed),
      expired: figures(({ credits }) => credits.expired),
      reserved: figures(({ credits }) => credits.reserved),
      charged: figures(({ credits }) => credits.charged),
      refunded: figures(({ credits }) => credits.refunded),
    },
    providers: [...ids].sort().map((id) => ({
      id,
      delivered: byProvider(id, ({ delivered }) => delivered),
      failed: byProvider(id, ({ failed }) => failed),
      wasted: byProvider(id, ({ wasted }) => wasted),
    })),
  };
}
