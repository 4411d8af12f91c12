import type { WindowCount } from "../ports/rate-count-store.js";
import { allHaveCapacity, rateDecision } from "./decision.js";
import type { RateDecision, WindowRule, WindowState } from "../ports/rate-limiter.js";
import { countRequest, currentWindow, isRunning } from "./window.js";

/** What a process brings of one subject. */
export interface SubjectClaim {
  /** What it counted by itself since it last brought something; below zero where it gave back more than it counted. */
  readonly counted: readonly WindowCount[];
  /** Requests that wait for a decision, in the order in which they came. */
  readonly requests: readonly (readonly WindowRule[])[];
}

export interface SubjectSettlement {
  /** Every window that runs, with what all processes counted in it. */
  readonly windows: readonly WindowCount[];
  /** Those among them that are not as they were. */
  readonly changed: readonly WindowCount[];
  /** One per request. */
  readonly decisions: readonly RateDecision[];
}

/**
 * Adds what a process counted by itself to what all have counted, and decides on the requests that it would not decide
 * alone. What was counted in a window that is over is dropped. Two windows of one length that overlap are the same one,
 * begun by processes that did not know of each other, or whose clocks differ: the one on record stays.
 *
 * @param stored what is on record, at most one window of each length
 */
export function settleCounts(
  stored: readonly WindowCount[],
  { counted, requests }: SubjectClaim,
  now: number,
): SubjectSettlement {
  const before = new Map(stored.map((window) => [window.windowSeconds, window]));
  const windows = new Map([...before].filter(([seconds, window]) => isRunning(window, seconds, now)));
  for (const own of counted) {
    const window = merged(windows.get(own.windowSeconds), own, now);
    if (window !== null) windows.set(own.windowSeconds, window);
  }
  const decisions = requests.map((rules) => decide(windows, rules, now));
  const changed = [...windows.values()].filter((window) => window !== before.get(window.windowSeconds));
  return { windows: [...windows.values()], changed, decisions };
}

/** Whether two windows of one length have a moment in common. */
export function overlap(one: Omit<WindowCount, "count">, other: Omit<WindowCount, "count">): boolean {
  return Math.abs(one.startedAt - other.startedAt) < one.windowSeconds * 1000;
}

function merged(running: WindowCount | undefined, own: WindowCount, now: number): WindowCount | null {
  if (own.count === 0) return null;
  if (running !== undefined) {
    return overlap(running, own) ? { ...running, count: Math.max(0, running.count + own.count) } : null;
  }
  return own.count > 0 && isRunning(own, own.windowSeconds, now) ? own : null;
}

function decide(windows: Map<number, WindowCount>, rules: readonly WindowRule[], now: number): RateDecision {
  const states = rules.map((rule) => currentWindow(windows.get(rule.windowSeconds), rule, now));
  if (!allHaveCapacity(states, rules)) return rateDecision(false, states, rules, now);
  const counted = states.map((state) => countRequest(state, now));
  for (const [index, { windowSeconds }] of rules.entries()) {
    windows.set(windowSeconds, { ...(counted[index] as WindowState), windowSeconds });
  }
  return rateDecision(true, counted, rules, now);
}
