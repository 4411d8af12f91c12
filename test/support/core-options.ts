import type { CoreOptions } from "../../core/core-options.js";
import { NO_UPLOADS, RETENTION } from "./builders.js";

const PLENTY = { perMinute: 1_000, perDay: 1_000 };

/** Those of an installation with one tier and no split. */
export const OPTIONS: Omit<CoreOptions, "providers"> = {
  actor: "harness",
  tiers: [
    {
      name: "pro",
      maxConcurrent: 10,
      monthlyCredits: 0,
      rateLimits: { read: PLENTY, generation: PLENTY, write: PLENTY },
      uploads: NO_UPLOADS,
    },
  ],
  routes: { fallbacks: {}, splits: { stem_split: [], vocal_removal: [] } },
  breaker: { failures: 5, openMs: 30_000 },
  jobs: {
    retry: { maxAttempts: 3, backoffMs: 1_000 },
    queueDeadlineMs: 3_600_000,
    renderDeadlineMs: 3_600_000,
    unknownGraceMs: 120_000,
    confirmMs: 60_000,
    leaseMs: 30_000,
    sweepMs: 1_000,
    submissions: "active",
  },
  splitCosts: { stem_split: 10, vocal_removal: 10 },
  idempotencyTtlMs: 86_400_000,
  retention: RETENTION,
  authFailuresPerMinute: 60,
  publicUrl: () => "https://music.example",
  reachableUrl: null,
  audio: { maxBytes: 1_000_000, urlTtlMs: 3_600_000 },
  uploads: { maxBytes: 1_000_000, maxSeconds: 600, decodes: false },
  webhooks: {
    allowHttp: false,
    timeoutMs: 15_000,
    scheduleMs: [5_000],
    eventBody: ({ job }) => ({ job_id: job.id }),
  },
  redact: (text) => text,
};
