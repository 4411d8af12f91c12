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
    const kind = this.subjects.of(subject);
    const counters = kind.get(subject);
    const states = statesOf(counters, rules, now);
    if (!allHaveCapacity(states, rules)) return rateDecision(false, states, rules, now);
    const counted = states.map((state) => countRequest(state, now));
    const kept = keptIn(counters ?? [], rules, counted);
    const isFull = !allHaveCapacity(counted, rules);
    // A move for every request would cost more than the count itself.
    if (counters === undefined || isFull || kind.isFull(subject)) kind.set(subject, kept, { isFull });
    kind.sweep((others) => hasEnded(others, now));
    return rateDecision(true, counted, rules, now);
  }

  async peek(subject: string, rules: readonly WindowRule[]): Promise<RateDecision> {
    const now = this.clock.now();
    const states = statesOf(this.subjects.of(subject).get(subject), rules, now);
    return rateDecision(allHaveCapacity(states, rules), states, rules, now);
  }

  giveBack(subject: string, rules: readonly WindowRule[]): void {
    const counters = this.subjects.of(subject).get(subject);
    for (const rule of rules) {
      const counter = counterFor(counters, rule);
      if (counter === undefined) continue;
      const { startedAt, count } = counter.state;
      // A window that has ended stays so, with any count.
      counter.state = { startedAt, count: Math.max(0, count - 1) };
    }
  }

  async close(): Promise<void> {
    // Only this process counts it.
  }
}

function statesOf(counters: readonly Counter[] | undefined, rules: readonly WindowRule[], now: number): WindowState[] {
  return rules.map((rule) => currentWindow(counterFor(counters, rule)?.state, rule, now));
}

/** The counters with these states. @param states one per rule */
function keptIn(counters: Counter[], rules: readonly WindowRule[], states: readonly WindowState[]): Counter[] {
  for (let index = 0; index < rules.length; index++) {
    const [rule, state] = [rules[index] as WindowRule, states[index] as WindowState];
    const counter = counterFor(counters, rule);
    if (counter === undefined) counters.push({ rule, state });
    else counter.state = state;
  }
  return counters;
}

function counterFor(counters: readonly Counter[] | undefined, rule: WindowRule): Counter | undefined {
  if (counters !== undefined)
    for (const counter of counters) if (counter.rule.windowSeconds === rule.windowSeconds) return counter;
  return undefined;
}

function hasEnded(counters: readonly Counter[], now: number): boolean {
  for (const { rule, state } of counters) if (currentWindow(state, rule, now).count > 0) return false;
  return true;
}
