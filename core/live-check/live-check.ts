import type { Clock } from "../ports/clock.js";
import type { IdGenerator } from "../ports/id-generator.js";
import type { Logger } from "../ports/logger.js";
import {
  type Accepted,
  type Billable,
  type CallContext,
  type Completed,
  ProviderFailure,
  type ProviderCost,
  type ProviderHandle,
} from "../ports/music-provider.js";
import { callPlugin } from "../execution/call-plugin.js";
import type { CheckedTrack, LiveFiles } from "./live-files.js";
import type { LiveGeneration } from "./live-generation.js";
import { LiveRender, type LiveRenderPolicy, LiveStopped } from "./live-render.js";
import { isEnd } from "../attempts/decide-rendering.js";
import type { WorkingProvider } from "../execution/working-provider.js";

export type LiveStepName = "probe" | "submit" | "poll" | "files" | "cancel";

export interface LiveStep {
  readonly step: LiveStepName;
  readonly outcome: "ok" | "failed";
  readonly ms: number;
  /** For operators, without secrets. */
  readonly detail: string;
}

/** What the provider may bill for. */
export interface LivePurchase {
  readonly modelId: string;
  /** The id of the submission, where the provider was given it. */
  readonly attemptId: string;
  /** What the plugin knows the work by, as JSON; null while nothing was accepted, and for what was complete at once. */
  readonly work: string | null;
  /** Whether the provider bills it, as far as it is known. */
  readonly isBilled: Billable;
  /** As the provider says; null when it does not. */
  readonly cost: ProviderCost | null;
}

/** Those that took place, in order; a step that failed is followed by none but `cancel`. */
export interface LiveCheckResult {
  readonly ok: boolean;
  readonly isInterrupted: boolean;
  readonly steps: readonly LiveStep[];
  /** null when the provider was asked for nothing. */
  readonly purchase: LivePurchase | null;
  readonly tracks: readonly CheckedTrack[];
}

/** What goes on during a check, for the operator who waits. */
export type LiveProgress =
  | { readonly type: "begun"; readonly step: LiveStepName }
  | { readonly type: "rendering"; readonly ms: number; readonly detail: string }
  /** The submission is under way and cannot be taken back: its reply is waited for. */
  | { readonly type: "awaiting_reply" };

export interface LiveSignals {
  /** The check is to stop; a submission that is under way is waited for first, and its work cancelled. */
  readonly interrupted: AbortSignal;
  /** Aborts when the check is to stop at once. */
  readonly ended: AbortSignal;
}

export interface LiveCheckDeps {
  readonly working: WorkingProvider;
  readonly files: Pick<LiveFiles, "check">;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  readonly logger: Logger;
  readonly policy: LiveRenderPolicy;
  /** A text without the secrets of the settings. */
  readonly masked: (text: string) => string;
  readonly signals: LiveSignals;
  readonly report: (progress: LiveProgress) => void;
}

const WORK_LENGTH = 1_000;

/**
 * Proves a started plugin against its service: tries the key, buys at most one generation, waits for it and reads its
 * files. Every call is bounded as in work on jobs; nothing is submitted twice, and nothing is stored. One run each.
 */
export class LiveCheck {
  private readonly steps: LiveStep[] = [];
  private purchase: LivePurchase | null = null;
  private tracks: readonly CheckedTrack[] = [];

  constructor(private readonly deps: LiveCheckDeps) {}

  /** @param generation the generation to buy; null: only the key is checked */
  async run(generation: LiveGeneration | null): Promise<LiveCheckResult> {
    if ((await this.probe()) && generation !== null && !this.isInterrupted) await this.buy(generation);
    const { steps, purchase, tracks, isInterrupted } = this;
    const ok = !isInterrupted && steps.every(({ outcome }) => outcome === "ok");
    return { ok, isInterrupted, steps, purchase, tracks };
  }

  private get isInterrupted(): boolean {
    return this.deps.signals.interrupted.aborted || this.deps.signals.ended.aborted;
  }

  /** @returns whether a generation may be bought; without a probe the submission shows whether the key is good */
  private async probe(): Promise<boolean> {
    const { provider } = this.deps.working;
    const probe = provider.probe?.bind(provider);
    if (probe === undefined) return true;
    const found = await this.step("probe", async () => {
      const { credit, warnings } = await this.call("probe", this.deps.signals.interrupted, probe);
      const left = credit === null ? "" : `, ${credit.amount} ${credit.unit} left`;
      if (credit !== null && credit.amount <= 0) throw new LiveStopped(`No credit is left: it takes the key${left}.`);
      return { value: true, detail: [`It takes the key${left}.`, ...warnings].join(" ") };
    });
    return found !== null;
  }

  private async buy(generation: LiveGeneration): Promise<void> {
    const outcome = await this.submit(generation);
    if (outcome === null) return;
    const result = outcome.state === "completed" ? outcome : await this.render(outcome, generation);
    if (result === null) return;
    this.bought({ isBilled: "yes", cost: result.cost ?? null });
    if (!this.isInterrupted) await this.readFiles(result, generation);
  }

  private async submit({ model, request }: LiveGeneration): Promise<Accepted | Completed | null> {
    const { working, ids } = this.deps;
    const [jobId, attemptId] = [ids.next("job"), ids.next("att")];
    const common = { operation: "music", jobId, attemptId, attempt: 1, callbackUrl: null } as const;
    const notice = new AbortController();
    this.deps.signals.interrupted.addEventListener("abort", () => this.deps.report({ type: "awaiting_reply" }), {
      signal: notice.signal,
    });
    const outcome = await this.step("submit", async () => {
      this.purchase = { modelId: model.id, attemptId, work: null, isBilled: "unknown", cost: null };
      const value = await this.call("submit", this.deps.signals.ended, (context) =>
        working.provider.submit({ ...common, ...request, model }, context),
      );
      this.bought({ isBilled: "yes" });
      if (value.state === "accepted") this.bought({ work: this.shownWork(value.handle) });
      const isAccepted = value.state === "accepted";
      return { value, detail: isAccepted ? "The provider accepted the work." : "The provider completed it at once." };
    });
    notice.abort();
    return outcome;
  }

  private async render(accepted: Accepted, { model }: LiveGeneration): Promise<Completed | null> {
    const { working, clock, policy } = this.deps;
    const render = new LiveRender({
      poll: working.poll,
      call: (invoke) => this.call("poll", this.deps.signals.interrupted, invoke),
      clock,
      policy,
      interrupted: AbortSignal.any([this.deps.signals.interrupted, this.deps.signals.ended]),
      report: (ms, detail) => this.deps.report({ type: "rendering", ms, detail: this.deps.masked(detail) }),
    });
    const result = await this.step("poll", async () => {
      const { completed, polls } = await render.wait(accepted, model);
      return { value: completed, detail: `It was complete at poll ${polls}.` };
    });
    if (result === null && !render.hasEnded) await this.cancel(render.handle);
    return result;
  }

  /** Work that the check waits for no more. */
  private async cancel(handle: ProviderHandle): Promise<void> {
    const { capabilities, provider } = this.deps.working;
    if (!capabilities.cancel || provider.cancel === undefined || this.deps.signals.ended.aborted) return;
    await this.step("cancel", async () => {
      const ask = async (context: CallContext): Promise<unknown> => provider.cancel?.(handle, context);
      const value = await this.call("cancel", this.deps.signals.ended, ask);
      if (value === "too_late") throw new LiveStopped("It was too late: the work is done or goes on.");
      this.bought({ isBilled: "unknown" });
      const isSure = value === "cancelled";
      return { value, detail: isSure ? "The provider cancelled the work." : "The provider was asked to cancel it." };
    });
  }

  private async readFiles(result: Completed, { request }: LiveGeneration): Promise<void> {
    const { files, working } = this.deps;
    const signal = AbortSignal.any([this.deps.signals.interrupted, this.deps.signals.ended]);
    await this.step("files", async () => {
      const { durationSeconds: askedSeconds } = request;
      const checked = await files.check(result, { providerId: working.id, askedSeconds, signal });
      this.tracks = checked.map((track) => this.shownTrack(track));
      const all = checked.flatMap((track) => track.files);
      const issues = [...checked, ...all].flatMap((one) => one.issues);
      const counts = `${checked.length} ${checked.length === 1 ? "track" : "tracks"}, ${all.length} files`;
      if (checked.length === 0) throw new LiveStopped("The provider reported success without a track.");
      if (issues.length > 0) throw new LiveStopped(`${counts}; ${issues.length} wrong: ${issues[0] as string}`);
      return { value: true, detail: `${counts}.` };
    });
  }

  /** Carries out a step and records how it went. @returns null when it failed */
  private async step<Value>(
    step: LiveStepName,
    work: () => Promise<{ readonly value: Value; readonly detail: string }>,
  ): Promise<Value | null> {
    const { clock, masked } = this.deps;
    const begunAt = clock.now();
    const ended = (outcome: LiveStep["outcome"], detail: string): void =>
      void this.steps.push({ step, outcome, ms: clock.now() - begunAt, detail: masked(detail) });
    this.deps.report({ type: "begun", step });
    try {
      const { value, detail } = await work();
      ended("ok", detail);
      return value;
    } catch (error) {
      const isAborted = this.isAborted(step);
      if (!isAborted) this.noteBilled(step, error);
      ended("failed", isAborted ? "It was interrupted." : reasonOf(error));
      return null;
    }
  }

  /** Whether an interruption ended the step: the error of an aborted call says nothing about the provider. */
  private isAborted(step: LiveStepName): boolean {
    const { interrupted, ended } = this.deps.signals;
    return step === "submit" || step === "cancel" ? ended.aborted : interrupted.aborted || ended.aborted;
  }

  /** What a failure says of the bill: that of a submission always, that of a poll when it ends the work. */
  private noteBilled(step: LiveStepName, error: unknown): void {
    if (!ProviderFailure.is(error)) return;
    if (step === "submit" || (step === "poll" && isEnd(error))) this.bought({ isBilled: error.billable });
  }

  private bought(changes: Partial<LivePurchase>): void {
    if (this.purchase !== null) this.purchase = { ...this.purchase, ...changes };
  }

  /** Ends at once with the second interruption, even if the plugin hangs. */
  private async call<Result>(
    name: string,
    signal: AbortSignal,
    invoke: (context: CallContext) => Promise<Result>,
  ): Promise<Result> {
    const { working, clock, logger } = this.deps;
    const { id: providerId, callLimitMs: limitMs } = working;
    const done = new AbortController();
    const ended = new Promise<never>((_resolve, reject) => {
      const end = (): void => reject(new LiveStopped("It was interrupted."));
      if (this.deps.signals.ended.aborted) return end();
      this.deps.signals.ended.addEventListener("abort", end, { once: true, signal: done.signal });
    });
    try {
      return await Promise.race([
        callPlugin({ providerId, name, limitMs, signal, clock, logger, metrics: null }, invoke),
        ended,
      ]);
    } finally {
      done.abort();
    }
  }

  private shownWork({ data }: ProviderHandle): string {
    const text = this.deps.masked(JSON.stringify(data));
    return text.length <= WORK_LENGTH ? text : `${text.slice(0, WORK_LENGTH)}…`;
  }

  private shownTrack({ title, files, issues }: CheckedTrack): CheckedTrack {
    const { masked } = this.deps;
    const shown = files.map((file) => ({ ...file, label: masked(file.label), issues: file.issues.map(masked) }));
    return { title: title === null ? null : masked(title), files: shown, issues: issues.map(masked) };
  }
}

function reasonOf(error: unknown): string {
  if (!ProviderFailure.is(error)) return error instanceof Error ? error.message : String(error);
  const { kind, message, providerCode, requestId } = error;
  const code = providerCode === null ? "" : ` (its code: ${providerCode})`;
  return `${kind}: ${message}${code}${requestId === null ? "" : ` (its request: ${requestId})`}`;
}
