import { presentJob } from "../adapters/http/presenters/job.js";
import { redactText } from "../adapters/observability/redact.js";
import type { CoreOptions } from "../core/core-options.js";
import type { RoutePreferences } from "../core/providers/routes.js";
import { type LoadedPlugin, toCatalogueProvider } from "./plugins.js";
import type { Settings } from "./settings.js";

/** Settings in the units of the core. */
export function coreOptions(
  settings: Settings,
  plugins: readonly LoadedPlugin[],
  { actor = "app", ...given }: Pick<CoreOptions, "publicUrl"> & Partial<Pick<CoreOptions, "actor" | "acting">>,
): CoreOptions {
  const { http, jobs, audio, uploads, webhooks, breaker } = settings;
  const isReachable = http.publicUrl !== null;
  return {
    ...given,
    actor,
    adminToken: settings.admin.token,
    tiers: Object.entries(settings.tiers).map(([name, tier]) => ({ name, ...tier })),
    providers: plugins.map((plugin) => toCatalogueProvider(plugin, isReachable)),
    routes: routePreferences(settings),
    breaker: { failures: breaker.failures, openMs: breaker.openSeconds * 1000 },
    jobs: {
      retry: { maxAttempts: jobs.maxAttempts, backoffMs: jobs.backoffMs },
      queueDeadlineMs: jobs.queueDeadlineMinutes * 60_000,
      renderDeadlineMs: jobs.renderDeadlineMinutes * 60_000,
      unknownGraceMs: jobs.unknownGraceSeconds * 1000,
      confirmMs: jobs.confirmSeconds * 1000,
      leaseMs: jobs.leaseSeconds * 1000,
      sweepMs: jobs.sweepMs,
      submissions: jobs.submissions,
    },
    splitCosts: { stem_split: settings.stemSplit.creditCost, vocal_removal: settings.vocalRemoval.creditCost },
    idempotencyTtlMs: settings.idempotency.ttlHours * 3_600_000,
    ledger: { fullCheckMs: settings.ledger.fullCheckHours * 3_600_000 },
    authFailuresPerMinute: settings.rateLimits.authFailures.perMinute,
    followedJobsPerAccount: http.maxJobStreamsPerAccount,
    reachableUrl: http.publicUrl,
    audio: { maxBytes: audio.maxBytes, urlTtlMs: audio.urlTtlHours * 3_600_000 },
    uploads: {
      maxBytes: Math.min(uploads.maxBytes, audio.maxBytes),
      maxSeconds: uploads.maxSeconds,
      decodes: audio.analyser !== "none",
    },
    webhooks: {
      allowHttp: webhooks.allowHttp,
      timeoutMs: webhooks.timeoutSeconds * 1000,
      scheduleMs: webhooks.scheduleSeconds.map((seconds) => seconds * 1000),
      eventBody: presentJob,
    },
    redact: redactText,
  };
}

/** In the words of the core. */
export function routePreferences({ routing, stemSplit, vocalRemoval }: Settings): RoutePreferences {
  const chains = routing.fallbacks.map((chain) => chain.split(">").map((id) => id.trim()));
  return {
    fallbacks: Object.fromEntries(chains.map(([first = "", ...others]) => [first, others])),
    splits: { stem_split: stemSplit.providers, vocal_removal: vocalRemoval.providers },
  };
}
