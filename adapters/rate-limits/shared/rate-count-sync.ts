import type { Logger } from "../../../core/ports/logger.js";
import type { RateDecision, WindowRule } from "../../../core/ports/rate-limiter.js";
import type { SubjectSettlement } from "../../../core/rate-limits/settle-counts.js";
import type { Claim, LocalCounts } from "./local-counts.js";
import { type SettlingDeps, settleTogether } from "./settle-together.js";

/** Subjects in one transaction. */
const GROUP_MAX = 256;

/** Ended counts go an hour later, so that those of a busy account are replaced instead; a few at a time. */
const KEPT_MS = 3_600_000;
const DELETED_MAX = 500;
const ROUNDS_PER_SWEEP = 50;

export interface RateCountSyncDeps extends SettlingDeps {
  readonly logger: Logger;
}

export interface RateCountSyncOptions {
  /** How often what was counted here is shared, while there is something. */
  readonly syncMs: number;
  /** The longest that a request waits for the shared counts. */
  readonly waitMaxMs: number;
  /** After a failure the storage is left alone for so long. */
  readonly retryMs: number;
}

interface PendingRequest {
  readonly counts: LocalCounts;
  /** Null for a request that only reads the shared counts. */
  readonly rules: readonly WindowRule[] | null;
  isResponded: boolean;
  resolve(decision: RateDecision | null): void;
}

/** A subject on its way to the storage. */
interface BatchEntry {
  readonly counts: LocalCounts;
  readonly claims: readonly Claim[];
  readonly pendingRequests: readonly PendingRequest[];
}

/** `alone`: no request calls the storage for a while. `probing`: the next request calls it again. */
type State = "shared" | "alone" | "probing";

/**
 * Brings what this process counted to the shared counts, and requests that it may not decide alone. One transaction at
 * a time takes everything that waits: at once when a request waits, else every so often. While the storage is
 * unavailable, callers decide alone, and their counts are added once it is back.
 */
export class RateCountSync {
  private pendingRequests: PendingRequest[] = [];
  /** Subjects with counts that are not shared yet, or that are to be read again. */
  private readonly changed = new Set<LocalCounts>();
  /** Those whose turn has come. */
  private due: LocalCounts[] = [];
  private state: State = "shared";
  private running: Promise<void> | null = null;
  private timer: AbortController | null = null;
  private rounds = 0;
  private sweeping: Promise<void> | null = null;
  private closing: Promise<void> | null = null;

  constructor(
    private readonly deps: RateCountSyncDeps,
    private readonly options: RateCountSyncOptions,
  ) {}

  /** Whether this process has to decide by itself for now. */
  get isAlone(): boolean {
    return this.isClosed || this.state === "alone" || (this.state === "probing" && this.running !== null);
  }

  /**
   * Has a request counted in the shared counts, or with rules null only looks them up.
   *
   * @returns null without a shared decision: `counts` decides
   */
  ask(counts: LocalCounts, rules: readonly WindowRule[] | null): Promise<RateDecision | null> {
    return new Promise((resolve) => {
      this.pendingRequests.push({ counts, rules, isResponded: false, resolve });
      this.run();
    });
  }

  /** Includes the subject in the next round. */
  markChanged(counts: LocalCounts): void {
    if (this.isClosed) return;
    this.changed.add(counts);
    if (this.timer === null) this.wait(this.options.syncMs);
  }

  /** Shares the remaining counts; they are lost when that fails or times out. */
  close(): Promise<void> {
    this.closing ??= this.end();
    return this.closing;
  }

  private get isClosed(): boolean {
    return this.closing !== null;
  }

  private async end(): Promise<void> {
    this.timer?.abort();
    this.beginRound();
    const timeoutMs = new AbortController();
    await Promise.race([
      Promise.all([this.running, this.sweeping]),
      this.deps.clock.sleep(this.options.waitMaxMs, timeoutMs.signal),
    ]);
    timeoutMs.abort();
  }

  private wait(ms: number): void {
    this.timer?.abort();
    const timer = new AbortController();
    this.timer = timer;
    void this.deps.clock.sleep(ms, timer.signal).then(() => {
      if (timer.signal.aborted) return;
      this.timer = null;
      if (this.state === "alone") this.state = "probing";
      this.rounds += 1;
      this.beginRound();
    });
  }

  private beginRound(): void {
    const now = this.deps.clock.now();
    for (const counts of this.changed) if (counts.isRunning(now)) this.due.push(counts);
    this.changed.clear();
    if (this.due.length > 0) this.run();
  }

  private run(): void {
    this.running ??= this.drain();
  }

  private async drain(): Promise<void> {
    // One turn of the microtask queue, so that requests of the same tick share the first transaction.
    await Promise.resolve();
    while (this.pendingRequests.length > 0 || this.due.length > 0) await this.bring(this.nextGroup());
    this.running = null;
  }

  private nextGroup(): BatchEntry[] {
    const group = new Map<LocalCounts, PendingRequest[]>();
    for (const request of this.pendingRequests.splice(0, GROUP_MAX)) {
      const others = group.get(request.counts);
      if (others === undefined) group.set(request.counts, [request]);
      else others.push(request);
    }
    for (const counts of this.due.splice(0, GROUP_MAX)) if (!group.has(counts)) group.set(counts, []);
    const now = this.deps.clock.now();
    return [...group].map(([counts, pendingRequests]) => {
      this.changed.delete(counts);
      return { counts, pendingRequests, claims: counts.claim(now) };
    });
  }

  private async bring(group: readonly BatchEntry[]): Promise<void> {
    const { clock } = this.deps;
    const timeoutMs = new AbortController();
    const settled = settleTogether(
      this.deps,
      group.map(({ counts, claims, pendingRequests: requests }) => ({
        subject: counts.subject,
        counted: claims.map(({ count }) => count),
        requests: requests.flatMap(({ rules }) => (rules === null ? [] : [rules])),
      })),
    );
    const tooLate = clock.sleep(this.options.waitMaxMs, timeoutMs.signal).then(() => null);
    try {
      if ((await Promise.race([settled, tooLate])) === null) {
        this.goAlone(new Error(`The storage took longer than ${this.options.waitMaxMs} ms.`), group);
      }
      this.arrive(group, await settled);
      if (this.rounds >= ROUNDS_PER_SWEEP) this.sweeping ??= this.deleteEnded(); // in the background
    } catch (error) {
      this.goAlone(error, group);
    } finally {
      // A reason of its own: the standard one is an exception with a stack.
      timeoutMs.abort("settled");
    }
  }

  private arrive(group: readonly BatchEntry[], settlements: readonly SubjectSettlement[]): void {
    for (const [index, { counts, claims, pendingRequests: requests }] of group.entries()) {
      const { windows, decisions } = settlements[index] as SubjectSettlement;
      counts.settle(claims, windows, this.deps.clock.now());
      const inTurn = decisions.values();
      for (const request of requests)
        this.respond(request, request.rules === null ? null : (inTurn.next().value as RateDecision));
    }
    if (this.state === "shared") return;
    this.state = "shared";
    this.deps.logger.info("Rate limits are counted by all processes together again");
  }

  private respond(request: PendingRequest, decision: RateDecision | null): void {
    const { counts, rules } = request;
    if (!request.isResponded) {
      request.isResponded = true;
      request.resolve(decision);
    } else if (decision?.allowed === true && rules !== null && counts.giveBack(rules, this.deps.clock.now())) {
      // It was decided here when that took too long, and counted twice if it passed.
      this.markChanged(counts);
    }
  }

  private goAlone(error: unknown, group: readonly BatchEntry[]): void {
    if (this.state === "shared") {
      this.deps.logger.warn("Rate limits are counted by this process alone: the shared counts are unavailable", {
        error,
      });
    }
    this.state = "alone";
    const waiting = [...group.flatMap(({ pendingRequests: requests }) => requests), ...this.pendingRequests.splice(0)];
    for (const request of waiting) if (!request.isResponded) this.respond(request, null);
    for (const counts of [...group.map((entry) => entry.counts), ...this.due.splice(0)]) this.changed.add(counts);
    if (!this.isClosed) this.wait(this.options.retryMs);
  }

  private async deleteEnded(): Promise<void> {
    const { counts, unitOfWork, clock, logger } = this.deps;
    try {
      const deleted = await unitOfWork.inTransaction((tx) =>
        counts.deleteEnded(tx, clock.now() - KEPT_MS, DELETED_MAX),
      );
      // With more to delete, the next round goes on.
      if (deleted < DELETED_MAX) this.rounds = 0;
    } catch (error) {
      logger.warn("Counts of rate limits whose windows are over could not be deleted", { error });
    }
    this.sweeping = null;
  }
}
