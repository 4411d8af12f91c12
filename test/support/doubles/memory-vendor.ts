import {
  type Accepted,
  type CancelOutcome,
  type CallContext,
  type Completed,
  type MusicProvider,
  ProviderFailure,
  type Snapshot,
  type SubmitRequest,
} from "../../../core/ports/music-provider.js";
import { SCRIPTED_TRACK, type ScriptedProvider } from "./scripted-provider.js";

const POLL_AGAIN_MS = 5_000;

/** A vendor behind a {@link ScriptedProvider}: it counts its purchases, and renders until a test finishes them. */
export class MemoryVendor {
  /** The attempts that it accepted, in order: each costs the operator money. */
  readonly purchases: string[] = [];
  /** The attempts whose cancellation was requested. */
  readonly cancelled: string[] = [];
  /** Whether every render is finished, later purchases included. */
  hasFinished = false;
  /** Whether polls, lookups and cancels reach it. */
  isReachable = true;
  /** A submission waits for this before it reaches the vendor. */
  upload: (request: SubmitRequest, context: CallContext) => Promise<unknown> = () => Promise.resolve();
  /** Its reply waits for this after it has reached the vendor. */
  reply: (request: SubmitRequest, context: CallContext) => Promise<unknown> = () => Promise.resolve();

  constructor(provider: ScriptedProvider) {
    provider.behaviour = (request, context) => this.submit(request, context);
    provider.pollBehaviour = () => this.reached(() => this.snapshot());
    provider.lookupBehaviour = (id) =>
      this.reached(() => (this.purchases.includes(id) ? accepted(id) : { state: "absent" }));
    const cancel: MusicProvider["cancel"] = (handle) =>
      this.reached((): CancelOutcome => {
        this.cancelled.push(String(handle.data["task"]));
        return "cancelled";
      });
    Object.assign(provider, { cancel });
  }

  private async submit(request: SubmitRequest, context: CallContext): Promise<Accepted> {
    await this.upload(request, context);
    this.purchases.push(request.attemptId);
    await this.reply(request, context);
    return accepted(request.attemptId);
  }

  private snapshot(): Snapshot {
    return this.hasFinished ? CREATED : { state: "running", nextPollMs: POLL_AGAIN_MS };
  }

  private reached<Reply>(reply: () => Reply): Promise<Reply> {
    if (!this.isReachable) return Promise.reject(new ProviderFailure("unavailable", "The vendor cannot be reached."));
    return Promise.resolve(reply());
  }
}

const CREATED: Completed = { state: "completed", tracks: [SCRIPTED_TRACK] };

function accepted(task: string): Accepted {
  return { state: "accepted", handle: { version: 1, data: { task } }, nextPollMs: POLL_AGAIN_MS };
}

/** Holds calls until `release` is called, whatever their signals. */
export function gate(): { readonly wait: () => Promise<void>; release(): void } {
  let release: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (release = resolve));
  return { wait: () => opened, release: () => release() };
}
