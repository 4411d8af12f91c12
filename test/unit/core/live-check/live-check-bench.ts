import { LiveCheck, type LiveCheckResult, type LiveProgress } from "../../../../core/live-check/live-check.js";
import type { CheckedTrack } from "../../../../core/live-check/live-files.js";
import { liveGenerationOf } from "../../../../core/live-check/live-generation.js";
import {
  type CancelOutcome,
  type Completed,
  type MusicProvider,
  ProviderFailure,
  type ProviderFailureKind,
  type ProviderHandle,
  type Snapshot,
} from "../../../../core/ports/music-provider.js";
import { anId } from "../../../support/builders.js";
import { ManualClock } from "../../../support/doubles/manual-clock.js";
import { RecordingLogger } from "../../../support/doubles/recording-logger.js";
import { submitAccepts, SCRIPTED_TRACK, ScriptedProvider } from "../../../support/doubles/scripted-provider.js";

export const MINUTE_MS = 60_000;
export const COST = { amount: 3, unit: "credits" };
export const CREATED: Completed = { state: "completed", tracks: [SCRIPTED_TRACK], cost: COST };
export const TRACKS: readonly CheckedTrack[] = [{ title: "Rain", files: [], issues: [] }];

export const running = (nextPollMs: number, handle?: ProviderHandle): Snapshot => ({
  state: "running",
  nextPollMs,
  ...(handle === undefined ? {} : { handle }),
});

export function failure(
  kind: ProviderFailureKind,
  options: ConstructorParameters<typeof ProviderFailure>[2] = {},
): ProviderFailure {
  return new ProviderFailure(kind, `it is ${kind}`, options);
}

export const outcomes = ({ steps }: LiveCheckResult): string[] =>
  steps.map(({ step, outcome }) => `${step} ${outcome}`);

type OptionalMethods = { -readonly [Name in "cancel" | "probe"]?: MusicProvider[Name] };

/** A live check of a scripted provider, on a clock that stands still. */
export class LiveCheckBench {
  readonly clock = new ManualClock();
  readonly provider: ScriptedProvider & OptionalMethods = new ScriptedProvider("owl");
  readonly interrupted = new AbortController();
  readonly ended = new AbortController();
  readonly progress: LiveProgress[] = [];
  readonly cancelled: ProviderHandle[] = [];
  files: readonly CheckedTrack[] = TRACKS;

  begin(isBuying = true): Promise<LiveCheckResult> {
    const { provider, clock, interrupted, ended } = this;
    const working = {
      id: "owl",
      label: "Owl",
      concurrency: 1,
      maxInFlight: null,
      capabilities: { idempotentSubmit: false, lookup: false, cancel: provider.cancel !== undefined },
      callLimitMs: MINUTE_MS,
      provider,
      poll: provider.poll.bind(provider),
    };
    const check = new LiveCheck({
      working,
      files: { check: () => Promise.resolve(this.files) },
      clock,
      ids: { next: anId },
      logger: new RecordingLogger(),
      policy: { renderDeadlineMs: 10 * MINUTE_MS, confirmMs: MINUTE_MS },
      masked: (text) => text.replaceAll("sesame", "…"),
      signals: { interrupted: interrupted.signal, ended: ended.signal },
      report: (one) => this.progress.push(one),
    });
    return check.run(isBuying ? liveGenerationOf(provider.definition.models, "owl/song") : null);
  }

  /** Runs to its end in as much time as it takes, a day at most. */
  async run(isBuying = true): Promise<LiveCheckResult> {
    const checking = this.begin(isBuying);
    await this.clock.advance(24 * 60 * MINUTE_MS);
    return checking;
  }

  /** The work is accepted, and polls return or throw these; the last one again and again. */
  polls(...replies: readonly (Snapshot | Error)[]): void {
    let count = 0;
    this.provider.behaviour = submitAccepts(5_000);
    this.provider.pollBehaviour = () => {
      const reply = replies[Math.min(count++, replies.length - 1)] as Snapshot | Error;
      return reply instanceof Error ? Promise.reject(reply) : Promise.resolve(reply);
    };
  }

  cancels(outcome: CancelOutcome): void {
    this.provider.cancel = (handle) => {
      this.cancelled.push(handle);
      return Promise.resolve(outcome);
    };
  }
}
