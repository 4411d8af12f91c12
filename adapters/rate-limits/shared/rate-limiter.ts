import type { RateLimiter, RateDecision, WindowRule } from "../../../core/ports/rate-limiter.js";
import { Subjects } from "../../../core/rate-limits/subjects.js";
import { RateCountSync, type RateCountSyncOptions, type RateCountSyncDeps } from "./rate-count-sync.js";
import { LocalCounts } from "./local-counts.js";

/** One that was forgotten is looked up again. */
const SUBJECTS_MAX = 100_000;

const DEFAULTS: RateCountSyncOptions = { syncMs: 200, waitMaxMs: 1_000, retryMs: 1_000 };

/**
 * Counts together with all processes on one storage, and never writes for every request. A process counts by itself up
 * to a sixtieth of the limit and shares that in batches: N processes let pass at most N sixtieths more than the limit,
 * three of them 5 %. What goes beyond, and everything under limits below 60, is counted in the shared counts first, one
 * transaction for all that wait; as is the first request of a subject that this process does not know. While the
 * storage is unavailable each process applies the limits by itself. A process that is killed forgets what it had not
 * shared: at most a sixtieth.
 */
export class SharedRateLimiter implements RateLimiter {
  private readonly subjects = new Subjects<LocalCounts>(SUBJECTS_MAX);
  private readonly sync: RateCountSync;

  constructor(
    private readonly deps: RateCountSyncDeps,
    options: Partial<RateCountSyncOptions> = {},
  ) {
    this.sync = new RateCountSync(deps, { ...DEFAULTS, ...options });
  }

  /** Subjects held right now, ended ones that no sweep has met yet included. */
  get size(): number {
    return this.subjects.size;
  }

  async consume(subject: string, rules: readonly WindowRule[]): Promise<RateDecision> {
    if (rules.length === 0) return { allowed: true, windows: [] };
    const { clock } = this.deps;
    const counts = this.countsOf(subject);
    if (!this.sync.isAlone) {
      const decision = counts.decideWithinShare(rules, clock.now());
      if (decision === null) {
        const shared = await this.sync.ask(counts, rules);
        if (shared !== null) return shared;
      } else {
        // After a refusal too: another process may have returned capacity.
        this.sync.markChanged(counts);
        return decision;
      }
    }
    const alone = counts.decideAlone(rules, clock.now());
    this.sync.markChanged(counts);
    return alone;
  }

  async peek(subject: string, rules: readonly WindowRule[]): Promise<RateDecision> {
    const counts = this.countsOf(subject);
    if (!counts.isKnown && !this.sync.isAlone) await this.sync.ask(counts, null);
    return counts.look(rules, this.deps.clock.now());
  }

  giveBack(subject: string, rules: readonly WindowRule[]): void {
    const counts = this.subjects.get(subject);
    if (counts?.giveBack(rules, this.deps.clock.now()) === true) this.sync.markChanged(counts);
  }

  /** Shares what is left to share. */
  close(): Promise<void> {
    return this.sync.close();
  }

  private countsOf(subject: string): LocalCounts {
    const now = this.deps.clock.now();
    this.subjects.sweep((counts) => counts.isOver(now));
    let counts = this.subjects.get(subject);
    if (counts === undefined) this.subjects.set(subject, (counts = new LocalCounts(subject)));
    return counts;
  }
}
