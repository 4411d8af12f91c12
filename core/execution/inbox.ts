import type { CallbackId } from "../ids.js";
import type { JobAttempt, JobState } from "../jobs/job.js";
import type { StoredCallback } from "../ports/callback-store.js";
import {
  type CallbackRequest,
  type Completed,
  type ParsedCallback,
  ProviderFailure,
  type ProviderHandle,
  type Snapshot,
} from "../ports/music-provider.js";
import { isEnd } from "../attempts/decide-rendering.js";
import type { JobStep } from "./job-step.js";

/** How many callbacks one step reads; the next step follows at once and reads the rest. */
const CALLBACKS_MAX = 20;

/** The handle of an attempt whose reply was lost: the plugin finds in the callback itself what it reports on. */
const NO_HANDLE: ProviderHandle = { version: 0, data: {} };

export interface Inbox {
  /** The state of the attempt by its signed callbacks: an end wins over all others, earlier or later. */
  readonly word: Snapshot | ProviderFailure | null;
  /** Another attempt that was finished, as a signed callback to its own address says; null when there is none. */
  readonly other: OtherAttempt | null;
  /** What need not be read again. */
  readonly read: readonly CallbackId[];
}

export interface OtherAttempt {
  readonly number: number;
  readonly word: Completed;
  readonly read: readonly CallbackId[];
}

const EMPTY: Inbox = { word: null, other: null, read: [] };

/**
 * Reads the callbacks of a job that no worker has read yet. Those to the job's own address are about `attempt`, and
 * about none when there is no attempt.
 */
export async function readCallbacks(step: JobStep, attempt: JobAttempt | null): Promise<Inbox> {
  if (!step.hasCallbacks) return EMPTY;
  const { callbacks } = step.deps;
  const unread = await callbacks.unread(step.job.id, CALLBACKS_MAX);
  const heard: Heard = { end: null, running: null, other: null };
  for (const callback of unread) await hear(step, callback, attempt, heard);
  const { end, running, other } = heard;
  const read = unread.map(({ id }) => id).filter((id) => other === null || !other.read.includes(id));
  return { word: end ?? running, other, read };
}

interface Heard {
  end: Inbox["word"];
  running: Inbox["word"];
  other: OtherAttempt | null;
}

async function hear(step: JobStep, callback: StoredCallback, attempt: JobAttempt | null, heard: Heard): Promise<void> {
  // A provider that the job has left is not asked any more: its plugin alone could read this.
  if (callback.providerId !== step.working.id) return;
  const about = callback.attempt === null ? attempt : step.attempts.find(({ number }) => number === callback.attempt);
  if (about === null || about === undefined) return;
  const parsed = await parse(step, callback, about.handle ?? NO_HANDLE);
  if (parsed.trust === "forged") {
    const fields = { provider: step.working.id, reason: parsed.reason };
    step.deps.logger.warn("A callback was not signed by its provider", fields);
  }
  if (parsed.trust !== "verified") return;
  const { snapshot } = parsed;
  if (about.number !== attempt?.number) {
    const isFinished = !ProviderFailure.is(snapshot) && snapshot.state === "completed";
    if (isFinished) heard.other ??= { number: about.number, word: snapshot, read: [callback.id] };
  } else if (ProviderFailure.is(snapshot)) heard.end ??= isEnd(snapshot) ? snapshot : null;
  else if (snapshot.state === "completed") heard.end ??= snapshot;
  else heard.running = snapshot;
}

/** A callback that the plugin cannot read only causes a poll. */
async function parse(step: JobStep, callback: StoredCallback, handle: ProviderHandle): Promise<ParsedCallback> {
  const { provider } = step.working;
  if (provider.parseCallback === undefined) return { trust: "hint" };
  try {
    const received = { ...callback, handle, request: requestOf(step.job) };
    const parseCallback = provider.parseCallback.bind(provider);
    return await step.call("parseCallback", (context) => parseCallback(received, context));
  } catch (error) {
    step.deps.logger.warn("A callback could not be read", { error, provider: step.working.id });
    return { trust: "hint" };
  }
}

function requestOf({ kind, servedModelId, modelId }: JobState): CallbackRequest {
  return { operation: kind, modelId: kind === "music" ? (servedModelId ?? modelId) : null };
}
