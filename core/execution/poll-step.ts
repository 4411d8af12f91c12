import type { StoredCallback } from "../ports/callback-store.js";
import { type ParsedCallback, ProviderFailure, type ProviderHandle, type Snapshot } from "../ports/music-provider.js";
import type { JobChanges } from "../ports/job-store.js";
import { deliveredIn } from "./stored-result.js";
import { jobErrorOf } from "../jobs/job-errors.js";
import { isLasting } from "./lasting-failure.js";
import { type JobStep, POLL_MIN_MS, POLL_RETRY_MS } from "./job-step.js";
import { boundedRetryAfterMs, isRetryable } from "./retry-policy.js";

/** Callbacks read at once; the rest is read with the next step, which comes at once. */
const CALLBACKS_MAX = 20;

/** Asks after accepted work: of what the provider reported first, and of the provider when that does not tell all. */
export async function poll(step: JobStep): Promise<void> {
  const { job } = step;
  if (job.handle === null) return step.fail(jobErrorOf("failed"), null);
  const delivered = deliveredIn(job.handle);
  if (delivered !== null) return step.complete(delivered, true);

  const reported = await readCallbacks(step, job.handle);
  let snapshot: Snapshot | ProviderFailure;
  try {
    snapshot = reported.ended ?? (await ask(step, job.handle));
  } catch (error) {
    return pollFailed(step, error, reported.read);
  }
  if (ProviderFailure.is(snapshot)) return pollFailed(step, snapshot, reported.read);
  await step.noteSuccess();
  if (snapshot.state === "completed") return step.complete(snapshot, true);
  const handle = snapshot.handle ?? job.handle;
  const dueAt = step.inMs(Math.max(POLL_MIN_MS, snapshot.nextPollMs));
  await handBack(step, { handle, dueAt }, reported.read);
}

interface Reported {
  /** What a signed callback says became of the work; null when none does. */
  readonly ended: Snapshot | ProviderFailure | null;
  /** null where the provider reports nothing. */
  readonly read: readonly StoredCallback[] | null;
}

/** States only move forward: an end wins over whatever came before or after it. */
async function readCallbacks(step: JobStep, handle: ProviderHandle): Promise<Reported> {
  const { parts, job, working } = step;
  if (!step.hasCallbacks) return { ended: null, read: null };
  const read = await parts.callbacks.unread(job.id, CALLBACKS_MAX);
  let ended: Reported["ended"] = null;
  for (const callback of read) {
    const parsed = await parse(step, { ...callback, handle });
    if (parsed.trust === "forged") {
      parts.logger.warn("A callback was not signed by its provider", { job_id: job.id, provider: working.id, reason: parsed.reason });
    }
    if (parsed.trust !== "verified" || ended !== null) continue;
    const { snapshot } = parsed;
    if (ProviderFailure.is(snapshot) ? isEnd(snapshot) : snapshot.state === "completed") ended = snapshot;
  }
  return { ended, read };
}

/** A callback that the plugin cannot read is worth a look at the provider, no more. */
async function parse(step: JobStep, callback: StoredCallback & { readonly handle: ProviderHandle }): Promise<ParsedCallback> {
  const { provider } = step.working;
  if (provider.parseCallback === undefined) return { trust: "hint" };
  try {
    return await provider.parseCallback(callback, { signal: step.signal });
  } catch (error) {
    step.parts.logger.warn("A callback could not be read", { error, job_id: step.job.id, provider: step.working.id });
    return { trust: "hint" };
  }
}

async function ask(step: JobStep, handle: ProviderHandle): Promise<Snapshot> {
  const { poll: askProvider } = step.working;
  if (askProvider === null) throw new ProviderFailure("failed", "The plugin cannot ask after work that it accepted.");
  return askProvider(handle, { signal: step.signal });
}

async function pollFailed(step: JobStep, error: unknown, read: Reported["read"]): Promise<void> {
  if (step.signal.aborted) return step.handBackAborted(null);
  const { job, parts } = step;
  parts.logger.warn("A poll failed", { error, job_id: job.id, provider: job.providerId });
  const failure = ProviderFailure.is(error) ? error : null;
  if (failure !== null && isEnd(failure)) return step.fail(jobErrorOf(failure.kind), step.resultOf(failure));
  if (failure !== null && isRetryable(failure.kind) && failure.kind !== "rate_limited") await step.noteFailure();
  const dueAt = step.inMs(Math.max(boundedRetryAfterMs(failure?.retryAfterMs ?? null), step.jittered(POLL_RETRY_MS)));
  await handBack(step, { dueAt }, read);
}

function handBack(step: JobStep, changes: JobChanges, read: Reported["read"]): Promise<void> {
  return read === null ? step.handBack(changes, null) : step.writes.handBackReported(changes, null, read);
}

/** Work that ran out of time there is over; that we could not ask in time is `unavailable`. */
function isEnd(failure: ProviderFailure): boolean {
  return isLasting(failure) || failure.kind === "timeout";
}
