import { allHaveCapacity, rateDecision } from "../../../core/rate-limits/decision.js";
import type { RateDecision, WindowRule, WindowState } from "../../../core/ports/rate-limiter.js";
import { overlap } from "../../../core/rate-limits/settle-counts.js";
import type { WindowCount } from "../../../core/ports/rate-count-store.js";
import { currentWindow, isRunning } from "../../../core/rate-limits/window.js";

/**
 * How far over a limit what one process has counted and not yet shared may take it: three processes together stay
 * within 5 %. Under a limit below 60 that is nothing, and every request is counted in the shared counts before it
 * passes.
 */
const OVERSHOOT_PER_PROCESS = 60;

/** One window as this process sees it. */
interface LocalWindow {
  readonly windowSeconds: number;
  startedAt: number;
  /** What all processes had counted when they were last asked. */
  shared: number;
  /** What this one has counted since, less what it gave back. */
  own: number;
}

/** A part of `own` that is on its way to the shared counts. */
export interface Claim {
  readonly window: LocalWindow;
  readonly count: WindowCount;
}

/** What this process knows of one subject's windows. */
export class LocalCounts {
  /** Whether the shared counts were ever read: until then no shared count is known. */
  isKnown = false;
  private windows: LocalWindow[] = [];

  constructor(readonly subject: string) {}

  /** Whether there is nothing more to remember. One that is being looked up for the first time is not over. */
  isOver(now: number): boolean {
    return (this.isKnown || this.windows.length > 0) && !this.isRunning(now);
  }

  isRunning(now: number): boolean {
    return this.windows.some((window) => isRunning(window, window.windowSeconds, now));
  }

  look(rules: readonly WindowRule[], now: number): RateDecision {
    const states = this.statesOf(rules, now);
    return rateDecision(allHaveCapacity(states, rules), states, rules, now);
  }

  /** Decides as if there were no other process. */
  decideAlone(rules: readonly WindowRule[], now: number): RateDecision {
    const before = this.look(rules, now);
    if (!before.allowed) return before;
    for (const { windowSeconds } of rules) this.count(windowSeconds, now);
    return rateDecision(true, this.statesOf(rules, now), rules, now);
  }

  /**
   * Decides as far as may be done without asking: refuses requests without capacity, and counts few by itself. Null:
   * the others must be asked.
   */
  decideWithinShare(rules: readonly WindowRule[], now: number): RateDecision | null {
    if (!this.isKnown) return null;
    const before = this.look(rules, now);
    if (!before.allowed) return before;
    return rules.every((rule) => this.ownOf(rule, now) < Math.floor(rule.limit / OVERSHOOT_PER_PROCESS))
      ? this.decideAlone(rules, now)
      : null;
  }

  /** @returns whether there was something to take back */
  giveBack(rules: readonly WindowRule[], now: number): boolean {
    let isChanged = false;
    for (const { windowSeconds } of rules) {
      const window = this.runningWindow(windowSeconds, now);
      if (window === undefined || window.shared + window.own <= 0) continue;
      window.own -= 1;
      isChanged = true;
    }
    return isChanged;
  }

  /** What the others do not know yet. */
  claim(now: number): Claim[] {
    return this.windows
      .filter((window) => window.own !== 0 && isRunning(window, window.windowSeconds, now))
      .map((window) => ({
        window,
        count: { windowSeconds: window.windowSeconds, startedAt: window.startedAt, count: window.own },
      }));
  }

  /** Takes note of what all processes together have counted, this one's claims included. */
  settle(claims: readonly Claim[], shared: readonly WindowCount[], now: number): void {
    for (const { window, count } of claims) window.own -= count.count;
    // What was left of a window that is over must not be taken for the next one's.
    this.windows = this.windows.filter((window) => isRunning(window, window.windowSeconds, now));
    for (const window of this.windows) if (!shared.some((other) => isSame(window, other))) window.shared = 0;
    for (const window of shared) this.adopt(window);
    this.isKnown = true;
  }

  private adopt({ windowSeconds, startedAt, count }: WindowCount): void {
    const known = this.windows.find((window) => window.windowSeconds === windowSeconds);
    if (known === undefined) this.windows.push({ windowSeconds, startedAt, shared: count, own: 0 });
    else if (overlap(known, { windowSeconds, startedAt })) Object.assign(known, { startedAt, shared: count });
    // Of two that do not overlap the earlier one is over.
    else if (startedAt > known.startedAt) this.replace(known, { windowSeconds, startedAt, shared: count, own: 0 });
  }

  private count(windowSeconds: number, now: number): void {
    const running = this.runningWindow(windowSeconds, now);
    if (running !== undefined) {
      running.own += 1;
      return;
    }
    const fresh = { windowSeconds, startedAt: now, shared: 0, own: 1 };
    const ended = this.windows.find((window) => window.windowSeconds === windowSeconds);
    if (ended === undefined) this.windows.push(fresh);
    else this.replace(ended, fresh);
  }

  /** A new object: a claim on the old one may be on its way. */
  private replace(window: LocalWindow, by: LocalWindow): void {
    this.windows[this.windows.indexOf(window)] = by;
  }

  private ownOf({ windowSeconds }: WindowRule, now: number): number {
    return this.runningWindow(windowSeconds, now)?.own ?? 0;
  }

  private runningWindow(windowSeconds: number, now: number): LocalWindow | undefined {
    return this.windows.find(
      (window) => window.windowSeconds === windowSeconds && isRunning(window, windowSeconds, now),
    );
  }

  private statesOf(rules: readonly WindowRule[], now: number): WindowState[] {
    return rules.map((rule) => {
      const window = this.runningWindow(rule.windowSeconds, now);
      return currentWindow(window && { startedAt: window.startedAt, count: window.shared + window.own }, rule, now);
    });
  }
}

function isSame(window: LocalWindow, other: WindowCount): boolean {
  return window.windowSeconds === other.windowSeconds && overlap(window, other);
}
