import type { Clock } from "../../../core/ports/clock.js";
import type { RateDecision, RateLimiter } from "../../../core/ports/rate-limiter.js";
import { countRequest, currentWindow, windowStatus } from "../../../core/rate-limits/window.js";
import type { WindowRule, WindowState } from "../../../core/rate-limits/window.js";

/** Entries looked at per counted request: two, so that ended ones leave faster than new ones come. */
const SWEPT_PER_CALL = 2;

/** Beyond this many subjects the oldest are forgotten, which favours a caller over the memory of this process. */
const SUBJECTS_MAX = 1_000_000;

interface Counter {
  readonly rule: WindowRule;
  state: WindowState;
}

/** Counts in this process. A subject's windows are told apart by their length, so that a change of limits keeps what was counted. */
export class MemoryRateLimiter implements RateLimiter {
  private readonly subjects = new Map<string, Counter[]>();
  /** A live iterator: it stays where it is while entries come and go, so a sweep costs the same however many there are. */
  private sweep = this.subjects.entries();

  constructor(
    private readonly clock: Clock,
    private readonly subjectsMax = SUBJECTS_MAX,
  ) {}

  /** Subjects held right now, ended ones that no sweep has met yet included. */
  get size(): number {
    return this.subjects.size;
  }

  consume(subject: string, rules: readonly WindowRule[]): RateDecision {
    const now = this.clock.now();
    const states = this.statesOf(subject, rules, now);
    if (!allHaveRoom(states, rules)) return decision(false, states, rules, now);
    const counted = states.map((state) => countRequest(state, now));
    this.keep(subject, rules, counted);
    this.forgetEnded(now);
    return decision(true, counted, rules, now);
  }

  peek(subject: string, rules: readonly WindowRule[]): RateDecision {
    const now = this.clock.now();
    const states = this.statesOf(subject, rules, now);
    return decision(allHaveRoom(states, rules), states, rules, now);
  }

  giveBack(subject: string, rules: readonly WindowRule[]): void {
    for (const rule of rules) {
      const counter = counterFor(this.subjects.get(subject), rule);
      // A window that has ended stays so, whatever its count.
      if (counter !== undefined) counter.state = { ...counter.state, count: Math.max(0, counter.state.count - 1) };
    }
  }

  private statesOf(subject: string, rules: readonly WindowRule[], now: number): WindowState[] {
    const counters = this.subjects.get(subject);
    return rules.map((rule) => currentWindow(counterFor(counters, rule)?.state, rule, now));
  }

  private keep(subject: string, rules: readonly WindowRule[], states: readonly WindowState[]): void {
    let counters = this.subjects.get(subject);
    if (counters === undefined) this.subjects.set(subject, (counters = []));
    for (const [index, rule] of rules.entries()) {
      const state = states[index] as WindowState;
      const counter = counterFor(counters, rule);
      if (counter === undefined) counters.push({ rule, state });
      else counter.state = state;
    }
  }

  private forgetEnded(now: number): void {
    for (let looked = 0; looked < SWEPT_PER_CALL; looked++) {
      const { value: entry, done } = this.sweep.next();
      if (done) {
        this.sweep = this.subjects.entries();
        return;
      }
      const [subject, counters] = entry;
      const isOver = counters.every(({ rule, state }) => currentWindow(state, rule, now).count === 0);
      if (isOver || this.subjects.size > this.subjectsMax) this.subjects.delete(subject);
    }
  }
}

function counterFor(counters: readonly Counter[] | undefined, rule: WindowRule): Counter | undefined {
  return counters?.find((counter) => counter.rule.windowSeconds === rule.windowSeconds);
}

function allHaveRoom(states: readonly WindowState[], rules: readonly WindowRule[]): boolean {
  return rules.every((rule, index) => (states[index] as WindowState).count < rule.limit);
}

function decision(allowed: boolean, states: readonly WindowState[], rules: readonly WindowRule[], now: number): RateDecision {
  return { allowed, windows: rules.map((rule, index) => windowStatus(states[index] as WindowState, rule, now)) };
}
