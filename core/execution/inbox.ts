import type { CallbackId } from "../ids.js";
import type { JobState } from "../jobs/job.js";
import type { StoredCallback } from "../ports/callback-store.js";
import {
  type CallbackRequest,
  type ParsedCallback,
  ProviderFailure,
  type ProviderHandle,
  type Snapshot,
} from "../ports/music-provider.js";
import { isEnd } from "./decide-rendering.js";
import type { JobStep } from "./job-step.js";

/** Callbacks read at once; the rest is read with the next step, which follows at once. */
const CALLBACKS_MAX = 20;

/** The handle of an attempt whose reply was lost: the plugin finds in the callback itself what it reports on. */
const NO_HANDLE: ProviderHandle = { version: 0, data: {} };

export interface Inbox {
  /** What the signed callbacks say became of the work: its end wins over whatever came before or after it. */
  readonly word: Snapshot | ProviderFailure | null;
  readonly read: readonly CallbackId[];
}

/** Reads the callbacks of a job that no worker has read yet. @param handle null: the submission's reply was lost */
export async function readCallbacks(step: JobStep, handle: ProviderHandle | null): Promise<Inbox> {
  if (!step.hasCallbacks) return { word: null, read: [] };
  const { callbacks, logger } = step.deps;
  const unread = await callbacks.unread(step.job.id, CALLBACKS_MAX);
  let end: Inbox["word"] = null;
  let running: Inbox["word"] = null;
  for (const callback of unread) {
    const parsed = await parse(step, callback, handle ?? NO_HANDLE);
    if (parsed.trust === "forged") {
      const fields = { job_id: step.job.id, provider: step.working.id, reason: parsed.reason };
      logger.warn("A callback was not signed by its provider", fields);
    }
    if (parsed.trust !== "verified") continue;
    const { snapshot } = parsed;
    if (ProviderFailure.is(snapshot)) end ??= isEnd(snapshot) ? snapshot : null;
    else if (snapshot.state === "completed") end ??= snapshot;
    else running = snapshot;
  }
  return { word: end ?? running, read: unread.map(({ id }) => id) };
}

/** A callback that the plugin cannot read is worth a poll, no more. */
async function parse(step: JobStep, callback: StoredCallback, handle: ProviderHandle): Promise<ParsedCallback> {
  const { provider } = step.working;
  if (provider.parseCallback === undefined) return { trust: "hint" };
  try {
    const received = { ...callback, handle, request: requestOf(step.job) };
    return await step.call("parseCallback", (context) => provider.parseCallback?.(received, context) as Promise<ParsedCallback>);
  } catch (error) {
    step.deps.logger.warn("A callback could not be read", { error, job_id: step.job.id, provider: step.working.id });
    return { trust: "hint" };
  }
}

function requestOf({ kind, servedModelId, modelId }: JobState): CallbackRequest {
  return { operation: kind, modelId: kind === "music" ? (servedModelId ?? modelId) : null };
}
