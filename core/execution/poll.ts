import type { CallbackId } from "../ids.js";
import type { JobAttempt } from "../jobs/job.js";
import { type LookupOutcome, ProviderFailure, type ProviderHandle, type Snapshot } from "../ports/music-provider.js";
import { type OtherAttempt, readCallbacks } from "./inbox.js";
import type { JobStep } from "./job-step.js";
import { needsOperator } from "../attempts/retry-policy.js";
import { storeAndSettle } from "./store-and-settle.js";
import { storableResult } from "../results/stored-result.js";
import { discardWhenEnded, fallbackOf, submit, submitted } from "./submit.js";

/** Polls accepted work: reads its callbacks first, and polls the provider unless they report the end. */
export async function poll(step: JobStep, attempt: JobAttempt): Promise<void> {
  const { number, handle } = attempt;
  if (handle === null) throw new Error(`The attempt ${number} of ${step.job.id} was accepted without a handle.`);
  const { word, other, read } = await readCallbacks(step, attempt);
  if (other !== null) return finished(step, other);
  if (word !== null && isEnd(word)) return reported(step, number, word, "callback", read);
  let snapshot: Snapshot | ProviderFailure | null;
  try {
    snapshot = await ask(step, handle);
  } catch (error) {
    if (step.signal.aborted) throw error;
    step.deps.logger.warn("A poll failed", { error, provider: step.job.providerId });
    snapshot = ProviderFailure.is(error) ? error : null;
  }
  if (ProviderFailure.is(snapshot) && isOutage(snapshot)) await step.noteFailure();
  await reported(step, number, snapshot, "poll", read);
}

/** A reply that says nothing of the job is the trouble of that job alone; one that never came is its provider's. */
function isOutage({ kind, cause }: ProviderFailure): boolean {
  return kind === "unavailable" ? cause !== undefined : needsOperator(kind);
}

async function ask(step: JobStep, handle: ProviderHandle): Promise<Snapshot> {
  const { poll: pollProvider } = step.working;
  if (pollProvider === null) {
    throw new ProviderFailure("failed", "The plugin cannot poll work that it accepted.", { providerCode: "no_poll" });
  }
  return step.call("poll", (context) => pollProvider(handle, context));
}

/** Reports the provider's snapshot of accepted work; null: the plugin failed without a reason. */
async function reported(
  step: JobStep,
  number: number,
  snapshot: Snapshot | ProviderFailure | null,
  source: "poll" | "callback",
  callbacksRead: readonly CallbackId[],
): Promise<void> {
  if (snapshot === null || ProviderFailure.is(snapshot)) {
    return discardWhenEnded(
      step,
      await step.report({ type: "poll_failed", number, failure: snapshot, source, callbacksRead }),
    );
  }
  await step.noteSuccess();
  if (snapshot.state === "running") {
    const { state: type, handle = null, ...running } = snapshot;
    return discardWhenEnded(step, await step.report({ type, number, handle, callbacksRead, ...running }));
  }
  const result = storableResult(snapshot);
  if (result !== null || source === "callback") {
    const { cost = null, handle } = snapshot;
    const { next } = await step.reportFinished({ number, result, cost, handle, callbacksRead });
    if (next !== "continue" || (result !== null && !step.holdsLease)) return;
  }
  await storeAndSettle(step, number, snapshot, result === null ? "provider" : "link");
}

/** Another attempt of the job was finished: the job adopts it unless one is open. */
export function finished(step: JobStep, { number, word, read }: OtherAttempt): Promise<void> {
  return reported(step, number, word, "callback", read);
}

/**
 * An attempt was intended and nothing is known of it: its worker was lost, or the reply. It is resolved by repeating
 * the call where that buys nothing new, by a signed callback, by a look-up, or by waiting; never by a second purchase.
 */
export async function resolve(step: JobStep, attempt: JobAttempt): Promise<void> {
  const { working } = step;
  if (working.capabilities.idempotentSubmit) return submit(step);
  const { number } = attempt;
  const { word, other, read } = await readCallbacks(step, attempt);
  if (other !== null) return finished(step, other);
  if (word !== null) return reported(step, number, word, "callback", read);
  const found = await lookUp(step, attempt);
  if (found?.state === "absent") {
    const absent = { type: "absent", number, fallback: await fallbackOf(step) } as const;
    return discardWhenEnded(step, await step.report(absent));
  }
  if (found !== null) {
    const fetchable = await submitted(step, number, found);
    if (fetchable !== null) await storeAndSettle(step, number, fetchable.created, fetchable.again);
    return;
  }
  await discardWhenEnded(step, await step.report({ type: "unresolved", number, callbacksRead: read }));
}

/** The result of a look-up of the attempt; null when the provider has no look-up, or it failed. */
async function lookUp(step: JobStep, { id }: JobAttempt): Promise<LookupOutcome | null> {
  const { capabilities, provider } = step.working;
  if (!capabilities.lookup || provider.lookup === undefined) return null;
  try {
    return await step.call("lookup", (context) => provider.lookup?.(id, context) as Promise<LookupOutcome>);
  } catch (error) {
    if (step.signal.aborted) throw error;
    step.deps.logger.warn("A lost submission could not be looked up", { error });
    return null;
  }
}

function isEnd(word: Snapshot | ProviderFailure): boolean {
  return ProviderFailure.is(word) || word.state === "completed";
}
