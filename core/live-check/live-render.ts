import type { Clock } from "../ports/clock.js";
import {
  type Accepted,
  type CallContext,
  type Completed,
  ProviderFailure,
  type ProviderHandle,
  type ProviderModel,
  type Snapshot,
} from "../ports/music-provider.js";
import { isDoubtful, isEnd } from "../attempts/decide-rendering.js";
import { confirmPollMs, POLL_RETRY_MS } from "../attempts/policy.js";
import { boundedRetryAfterMs, needsOperator } from "../attempts/retry-policy.js";
import { InvalidResultFailure } from "../results/invalid-result.js";
import type { WorkingProvider } from "../execution/working-provider.js";

/** Why a step of a live check ends without a failure of the plugin. */
export class LiveStopped extends Error {
  override readonly name = "LiveStopped";
}

/** As in work on jobs. */
export interface LiveRenderPolicy {
  /** Of models without a deadline of their own. */
  readonly renderDeadlineMs: number;
  /** How long an end that the provider gives no reason for is doubted. */
  readonly confirmMs: number;
}

export interface LiveRenderDeps {
  readonly poll: WorkingProvider["poll"];
  call(invoke: (context: CallContext) => Promise<Snapshot>): Promise<Snapshot>;
  readonly clock: Clock;
  readonly policy: LiveRenderPolicy;
  readonly interrupted: AbortSignal;
  report(ms: number, detail: string): void;
}

/** Waits for accepted work, polling as often as the provider asks for. */
export class LiveRender {
  /** The newest by which the provider knows the work. */
  handle: ProviderHandle = { version: 0, data: {} };
  /** Whether nothing runs there any more. */
  hasEnded = false;
  /** When the provider first reported an end that is doubted. */
  private endReportedAt: number | null = null;

  constructor(private readonly deps: LiveRenderDeps) {}

  /**
   * @throws {ProviderFailure} the work failed there, or may not be polled
   * @throws {LiveStopped} interrupted, or out of time
   */
  async wait(
    accepted: Accepted,
    model: Pick<ProviderModel, "renderDeadlineMinutes">,
  ): Promise<{ readonly completed: Completed; readonly polls: number }> {
    const { clock, policy, interrupted, report } = this.deps;
    const { renderDeadlineMinutes } = model;
    const begunAt = clock.now();
    const limitMs = renderDeadlineMinutes === undefined ? policy.renderDeadlineMs : renderDeadlineMinutes * 60_000;
    this.handle = accepted.handle;
    let waitMs = accepted.nextPollMs;
    for (let polls = 1; ; polls++) {
      const leftMs = begunAt + limitMs - clock.now();
      await clock.sleep(Math.max(0, Math.min(waitMs, leftMs)), interrupted);
      if (interrupted.aborted) throw new LiveStopped("It was interrupted.");
      const isLast = clock.now() - begunAt >= limitMs;
      const reply = await this.poll();
      if (!("waitMs" in reply)) return { completed: reply, polls };
      const minutes = Math.round(limitMs / 6_000) / 10;
      if (isLast) throw new LiveStopped(`It was not complete after ${minutes} minutes: ${reply.detail}.`);
      report(clock.now() - begunAt, reply.detail);
      waitMs = reply.waitMs;
    }
  }

  /** @returns the result, or how long to wait for the next poll and why */
  private async poll(): Promise<Completed | { readonly waitMs: number; readonly detail: string }> {
    const { poll, call } = this.deps;
    if (poll === null) throw new ProviderFailure("failed", "The plugin cannot poll work that it accepted.");
    try {
      const snapshot = await call((context) => poll(this.handle, context));
      this.hasEnded = snapshot.state === "completed";
      if (snapshot.state === "completed") return snapshot;
      this.endReportedAt = null;
      this.handle = snapshot.handle ?? this.handle;
      return { waitMs: snapshot.nextPollMs, detail: "still running" };
    } catch (error) {
      return this.failed(error);
    }
  }

  /** @throws what ends the work, and what only the operator can fix */
  private failed(error: unknown): { readonly waitMs: number; readonly detail: string } {
    const { clock, policy, interrupted } = this.deps;
    if (interrupted.aborted) throw error;
    if (!ProviderFailure.is(error)) return { waitMs: POLL_RETRY_MS, detail: `the plugin failed: ${messageOf(error)}` };
    // What the author has to change first; the next poll returns the same.
    if (needsOperator(error.kind) || error instanceof InvalidResultFailure) throw error;
    const detail = `${error.kind}: ${error.message}`;
    if (!isEnd(error)) return { waitMs: Math.max(POLL_RETRY_MS, boundedRetryAfterMs(error.retryAfterMs)), detail };
    this.endReportedAt ??= clock.now();
    if (isDoubtful(error) && clock.now() < this.endReportedAt + policy.confirmMs)
      return { waitMs: confirmPollMs(policy), detail: `${detail}; it is asked again` };
    this.hasEnded = true;
    throw error;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
