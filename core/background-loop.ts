import type { Clock } from "./ports/clock.js";
import type { Logger } from "./ports/logger.js";

export interface BackgroundLoopDeps {
  /**
   * One round of the work.
   *
   * @param signal aborts with {@link BackgroundLoop.stop}
   * @returns how long to pause before the next step, in milliseconds; null: until {@link BackgroundLoop.wake}
   */
  step(signal: AbortSignal): Promise<number | null>;
  /** The pause after a step that threw, in milliseconds. */
  readonly errorPauseMs: number;
  readonly clock: Clock;
  /** Its lines carry what names the loop: the provider, the task. */
  readonly logger: Logger;
  /** What the log says of a step that threw, such as "Due jobs could not be claimed". */
  readonly errorMessage: string;
}

/** Why a pause ends; without a reason each would create an error with its stack. */
const OVER = "over";

/**
 * Repeats one step with pauses in between until it is stopped. Never two steps at once. A step that throws is logged,
 * and the loop goes on. It depends on the pauses alone, so that a system clock that is set forwards or back changes
 * nothing.
 */
export class BackgroundLoop {
  private readonly stopping = new AbortController();
  private isStarted = false;
  private running: Promise<void> = Promise.resolve();
  /** Aborted where the pause ends; null while a step runs. */
  private pause: AbortController | null = null;
  /** The shortest pause that was asked for: while a step runs, of the one after it. */
  private pauseMaxMs = Infinity;
  private waiting: (() => void)[] = [];

  constructor(private readonly deps: BackgroundLoopDeps) {}

  get isStopped(): boolean {
    return this.stopping.signal.aborted;
  }

  /**
   * Begins; a second call, and one after {@link stop}, changes nothing.
   *
   * @param firstPauseMs the pause before the first step; null: until {@link wake}
   */
  start(firstPauseMs: number | null = 0): void {
    if (this.isStarted || this.isStopped) return;
    this.isStarted = true;
    this.running = this.run(firstPauseMs);
  }

  /** The next step begins within this time: the current pause is cut short; during a step, the pause after it. */
  wake(withinMs = 0): void {
    // An earlier call that asked for as short a pause is over first.
    if (withinMs >= this.pauseMaxMs) return;
    this.pauseMaxMs = withinMs;
    if (this.pause !== null) this.endWithin(this.pause, withinMs);
  }

  /**
   * Wakes the loop, as {@link wake}. Resolves when a step that began after this call is over, failed or not; or when
   * the loop is stopped and no step runs.
   */
  nextStep(withinMs = 0): Promise<void> {
    if (this.isStopped) return this.running;
    return new Promise((resolve) => {
      this.waiting.push(resolve);
      this.wake(withinMs);
    });
  }

  /** Begins no step any more. Resolves when the running one is over. Before {@link start} and a second time is fine. */
  stop(): Promise<void> {
    this.stopping.abort();
    this.pause?.abort(OVER);
    if (!this.isStarted) this.release(this.waiting);
    return this.running;
  }

  private async run(firstPauseMs: number | null): Promise<void> {
    // Without a pause the first step begins within the call of `start`.
    if (firstPauseMs !== 0) await this.rest(Math.min(firstPauseMs ?? Infinity, this.pauseMaxMs));
    while (!this.isStopped) {
      // Taken before the step, so that a wake-up during the step leads to another step.
      const waiting = this.waiting;
      [this.waiting, this.pauseMaxMs] = [[], Infinity];
      const pauseMs = await this.step();
      this.release(waiting);
      await this.rest(Math.min(pauseMs, this.pauseMaxMs));
    }
    this.release(this.waiting);
  }

  private async step(): Promise<number> {
    const { signal } = this.stopping;
    try {
      return (await this.deps.step(signal)) ?? Infinity;
    } catch (error) {
      // A step that gives up because of the stop has not failed.
      if (!signal.aborted || error !== signal.reason) this.deps.logger.error(this.deps.errorMessage, { error });
      return this.deps.errorPauseMs;
    }
  }

  private async rest(ms: number): Promise<void> {
    if (ms <= 0 || this.isStopped) return;
    const pause = new AbortController();
    [this.pause, this.pauseMaxMs] = [pause, ms];
    const over = new Promise<void>((resolve) =>
      pause.signal.addEventListener("abort", () => resolve(), { once: true }),
    );
    this.endWithin(pause, ms);
    await over;
    this.pause = null;
  }

  private endWithin(pause: AbortController, ms: number): void {
    if (ms <= 0) pause.abort(OVER);
    else if (ms < Infinity) void this.deps.clock.sleep(ms, pause.signal).then(() => pause.abort(OVER));
  }

  private release(waiting: readonly (() => void)[]): void {
    for (const resolve of waiting) resolve();
  }
}
