import type { Tier } from "./accounts/tiers.js";
import type { Actor } from "./audit/audit-trail.js";
import type { BreakerPolicy } from "./providers/circuit-breaker.js";
import type { CatalogueProvider } from "./providers/catalogue.js";
import type { RoutePreferences } from "./providers/routes.js";
import type { PolicySettings } from "./attempts/policies.js";
import type { SubmissionState } from "./execution/submission-switch.js";
import type { Retention } from "./maintenance/retention.js";
import type { SplitKind } from "./jobs/job.js";
import type { UploadLimits } from "./library/upload-track.js";
import type { JobEventBody } from "./webhooks/create-webhooks.js";

/** What an installation decides. Times in milliseconds, sizes in bytes, prices in whole credits. */
export interface CoreOptions {
  /** Who acts, in the audit log: 1 to 100 characters. */
  readonly actor: string;
  /** Who acts instead, asked when an action begins; null, and by default: `actor`. */
  readonly acting?: () => Actor | null;
  /** A token for the admin API that the settings give, of an owner; none by default. */
  readonly adminToken?: string | null;
  /** At least one; the first is that of new accounts. */
  readonly tiers: readonly Tier[];
  /** Every provider that is known, those that are off included, with their models. */
  readonly providers: readonly CatalogueProvider[];
  readonly routes: RoutePreferences;
  readonly breaker: BreakerPolicy;
  readonly jobs: PolicySettings & {
    readonly leaseMs: number;
    /** How often workers look for due jobs and deliveries of which no notification came. */
    readonly sweepMs: number;
    /** Whether new work is bought while no operator has said otherwise. */
    readonly submissions: SubmissionState;
  };
  readonly splitCosts: Readonly<Record<SplitKind, number>>;
  readonly idempotencyTtlMs: number;
  readonly retention: Retention;
  /** How often the watch of the ledger goes through all rows, and not only through what is new; daily by default. */
  readonly ledger?: { readonly fullCheckMs: number };
  /** The pause between two looks of each maintenance task for what is due; 5 s by default. */
  readonly maintenance?: { readonly everyMs: number };
  readonly authFailuresPerMinute: number;
  /** How many jobs one account may follow at once, in a process; 20 by default. */
  readonly followedJobsPerAccount?: number;
  /** What callers reach this server by, without a slash at its end; asked again for every link. */
  readonly publicUrl: () => string;
  /** The same address where the world can reach it; null: providers get no links and no address to report to. */
  readonly reachableUrl: string | null;
  readonly audio: {
    /** Of one file. */
    readonly maxBytes: number;
    readonly urlTtlMs: number;
  };
  readonly uploads: UploadLimits & {
    /** False where audio is not decoded: a file is then known by its first bytes alone. */
    readonly decodes: boolean;
  };
  readonly webhooks: {
    /** Whether plain http is taken too. */
    readonly allowHttp: boolean;
    /** The longest that a delivery attempt may take. */
    readonly timeoutMs: number;
    /** The waits between delivery attempts; there is one more attempt than waits. */
    readonly scheduleMs: readonly number[];
    /** The body of the event of a job that has ended. */
    readonly eventBody: JobEventBody;
  };
  /** Masks text that has the form of a secret. */
  readonly redact: (text: string) => string;
}
