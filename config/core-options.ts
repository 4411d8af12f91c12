import { presentJob } from "../adapters/http/presenters/job.js";
import { redactText } from "../adapters/observability/redact.js";
import type { CoreOptions } from "../core/core-options.js";
import type { Retention } from "../core/maintenance/retention.js";
import type { RoutePreferences } from "../core/providers/routes.js";
import { type LoadedPlugin, toCatalogueProvider } from "./plugins.js";
import type { Settings } from "./settings.js";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Settings in the units of the core. */
export function coreOptions(
  settings: Settings,
  plugins: readonly LoadedPlugin[],
  { actor = "app", ...given }: Pick<CoreOptions, "publicUrl"> & Partial<Pick<CoreOptions, "actor" | "acting">>,
): CoreOptions {
  const { http, jobs, audio, uploads, breaker } = settings;
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
    retention: retentionOf(settings),
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
      allowHttp: settings.webhooks.allowHttp,
      timeoutMs: settings.webhooks.timeoutSeconds * 1000,
      scheduleMs: scheduleOf(settings),
      eventBody: presentJob,
    },
    redact: redactText,
  };
}

/** How long each kind of what is stored is kept. */
export function retentionOf({ retention }: Pick<Settings, "retention">): Retention {
  return {
    requestsMs: retention.requestDays * DAY_MS,
    attemptsMs: retention.attemptDays * DAY_MS,
    eventsMs: retention.eventDays * DAY_MS,
    requestLogMs: retention.requestLogDays * DAY_MS,
    callbacksMs: retention.callbackDays * DAY_MS,
    failedAudioMs: retention.failedAudioHours * HOUR_MS,
  };
}

/** The waits between the attempts of a delivery, in milliseconds. */
export function scheduleOf({ webhooks }: Pick<Settings, "webhooks">): readonly number[] {
  return webhooks.scheduleSeconds.map((seconds) => seconds * 1000);
}

/** In the words of the core. */
export function routePreferences({ routing, stemSplit, vocalRemoval }: Settings): RoutePreferences {
  const chains = routing.fallbacks.map((chain) => chain.split(">").map((id) => id.trim()));
  return {
    fallbacks: Object.fromEntries(chains.map(([first = "", ...others]) => [first, others])),
    splits: { stem_split: stemSplit.providers, vocal_removal: vocalRemoval.providers },
  };
}
