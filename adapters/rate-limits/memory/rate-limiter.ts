import type { Clock } from "../../../core/ports/clock.js";
import type { RateLimiter, RateDecision, WindowRule, WindowState } from "../../../core/ports/rate-limiter.js";
import { allHaveCapacity, rateDecision } from "../../../core/rate-limits/decision.js";
import { SubjectKinds } from "../../../core/rate-limits/subject-kinds.js";
import { countRequest, currentWindow } from "../../../core/rate-limits/window.js";

/** Of one kind; some 600 bytes each. */
const SUBJECTS_MAX = 100_000;

interface Counter {
  readonly rule: WindowRule;
  state: WindowState;
}

/**
 * Counts in this process. Of each kind of subject it holds a number; beyond it the oldest are forgotten, those with a
 * used-up window last.
 */
export class MemoryRateLimiter implements RateLimiter {
  private readonly subjects: SubjectKinds<Counter[]>;

  constructor(
    private readonly clock: Clock,
    subjectsMax = SUBJECTS_MAX,
  ) {
    this.subjects = new SubjectKinds(subjectsMax);
  }

  /** Subjects held right now, ended ones that no sweep has met yet included. */
  get size(): number {
    return this.subjects.size;
  }

  async consume(subject: string, rules: readonly WindowRule[]): Promise<RateDecision> {
    const now = this.clock.now();
    const states = this.statesOf(subject, rules, now);
    if (!allHaveCapacity(states, rules)) return rateDecision(false, states, rules, now);
    const counted = states.map((state) => countRequest(state, now));
    this.keep(subject, rules, counted);
    this.subjects.sweep(subject, (counters) => hasEnded(counters, now));
    return rateDecision(true, counted, rules, now);
  }

  async peek(subject: string, rules: readonly WindowRule[]): Promise<RateDecision> {
    const now = this.clock.now();
    const states = this.statesOf(subject, rules, now);
    return rateDecision(allHaveCapacity(states, rules), states, rules, now);
  }

  giveBack(subject: string, rules: readonly WindowRule[]): void {
    for (const rule of rules) {
      const counter = counterFor(this.subjects.get(subject), rule);
      // A window that has ended stays so, with any count.
      if (counter !== undefined) counter.state = { ...counter.state, count: Math.max(0, counter.state.count - 1) };
    }
  }

  async close(): Promise<void> {
    // Only this process counts it.
  }

  private statesOf(subject: string, rules: readonly WindowRule[], now: number): WindowState[] {
    const counters = this.subjects.get(subject);
    return rules.map((rule) => currentWindow(counterFor(counters, rule)?.state, rule, now));
  }

  private keep(subject: string, rules: readonly WindowRule[], states: readonly WindowState[]): void {
    const known = this.subjects.get(subject);
    const counters = known ?? [];
    for (let index = 0; index < rules.length; index++) {
      const [rule, state] = [rules[index] as WindowRule, states[index] as WindowState];
      const counter = counterFor(counters, rule);
      if (counter === undefined) counters.push({ rule, state });
      else counter.state = state;
    }
    const isFull = !allHaveCapacity(states, rules);
    // A look-up and a move for every request would cost more than the count itself.
    if (known === undefined || isFull || this.subjects.isFull(subject))
      this.subjects.set(subject, counters, { isFull });
  }
}

function counterFor(counters: readonly Counter[] | undefined, rule: WindowRule): Counter | undefined {
  if (counters !== undefined)
    for (const counter of counters) if (counter.rule.windowSeconds === rule.windowSeconds) return counter;
  return undefined;
}

function hasEnded(counters: readonly Counter[], now: number): boolean {
  return counters.every(({ rule, state }) => currentWindow(state, rule, now).count === 0);
}
