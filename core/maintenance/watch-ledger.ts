import type { ProcessId } from "../ids.js";
import type { Clock } from "../ports/clock.js";
import type { IdGenerator } from "../ports/id-generator.js";
import type { InstallationStore } from "../ports/installation-store.js";
import type { LedgerPage, LedgerStore, LedgerViolation } from "../ports/ledger-store.js";
import type { Logger } from "../ports/logger.js";
import type { UnitOfWork } from "../ports/unit-of-work.js";

export interface WatchLedgerDeps {
  readonly ledger: Pick<LedgerStore, "auditPage">;
  readonly installation: Pick<InstallationStore, "lock" | "write">;
  readonly unitOfWork: UnitOfWork;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  readonly logger: Logger;
  /** How often a round goes through all rows; the others through what is new. */
  readonly fullEveryMs: number;
}

/** What the watch of the ledger knows, in the storage: one process at a time watches for all. */
export interface LedgerWatch {
  readonly owner: ProcessId;
  /** Until then no other process takes the watch over. */
  readonly until: number;
  /** When it last wrote how far it is. */
  readonly checkedAt: number;
  /** Where the next page begins; null: at the beginning of a round. */
  readonly cursor: string | null;
  /** Where a round of what is new begins; null: the next round goes through all rows. */
  readonly resume: string | null;
  /** When the last round through all rows ended; null: none has yet. */
  readonly fullRoundEndedAt: number | null;
  /** The current round, or the last where none has begun, goes through all rows. */
  readonly isFull: boolean;
  /** Violations that the current round has found so far. */
  readonly found: number;
  /** Those of the last round that went to the end. */
  readonly foundBefore: number;
  /** When that round ended; null: none has yet. */
  readonly roundEndedAt: number | null;
}

/** The name under which the storage keeps it. */
const NAME = "ledger_watch";

/** Between two steps. With the time that a step takes, this is under 1 % of a core. */
export const WATCH_EVERY_MS = 2_000;
/** A step begins no page when it has taken this long. */
const STEP_MS = 5;
const PAGE_ROWS = 200;
/** A small ledger is not gone through more often. */
const ROUND_MIN_MS = 60_000;
const WRITE_EVERY_MS = 60_000;
const LEASE_MS = 3 * WRITE_EVERY_MS;
/** More are counted, but have no log line. */
const LOGGED_MAX = 1_000;

/**
 * Checks the ledger all the time, in small steps and in rounds. A round goes through what no earlier one has verified;
 * from time to time, and after a round that found something, through all rows. Every violation that this process finds
 * is logged once.
 */
export class WatchLedger {
  private readonly owner: ProcessId;
  private watch: LedgerWatch | null = null;
  /** Nothing is done before: another process watches, or a round has just ended. */
  private restsUntil = 0;
  private readonly logged = new Set<string>();

  constructor(private readonly deps: WatchLedgerDeps) {
    this.owner = deps.ids.next("prc");
  }

  /** @throws {ServiceUnavailableError} the storage is not available; the next step goes on where this one was */
  async step(signal: AbortSignal): Promise<void> {
    const { clock, ledger } = this.deps;
    const startedAt = clock.now();
    if (startedAt < this.restsUntil) return;
    if (!(await this.holdsWatch())) return;
    do {
      const page = await ledger.auditPage(this.beginRound(), PAGE_ROWS);
      this.log(page.violations);
      await this.advance(page);
      if (page.next === null) return;
    } while (!signal.aborted && clock.now() - startedAt < STEP_MS);
  }

  /** @returns where the next page begins */
  private beginRound(): string | null {
    const { watch } = this;
    if (watch === null) return null;
    if (watch.cursor !== null) return watch.cursor;
    const { fullRoundEndedAt, foundBefore, resume } = watch;
    const isFullDue = fullRoundEndedAt === null || this.deps.clock.now() - fullRoundEndedAt >= this.deps.fullEveryMs;
    const isFull = isFullDue || foundBefore > 0 || resume === null;
    this.watch = { ...watch, isFull };
    return isFull ? null : resume;
  }

  /** @returns false while another process watches */
  private async holdsWatch(): Promise<boolean> {
    const now = this.deps.clock.now();
    if (this.watch !== null && now < this.watch.checkedAt + WRITE_EVERY_MS) return true;
    return this.write(this.watch, now);
  }

  /** @returns false when another process has taken it over */
  private async write(watch: LedgerWatch | null, now: number): Promise<boolean> {
    const { unitOfWork, installation } = this.deps;
    const { owner } = this;
    const written = await unitOfWork.inTransaction(async (tx) => {
      const stored = parseLedgerWatch(await installation.lock(tx, NAME));
      if (stored !== null && stored.owner !== owner && now < stored.until) return stored;
      const known = watch ?? stored ?? NOTHING_KNOWN;
      const mine: LedgerWatch = { ...known, owner, until: now + LEASE_MS, checkedAt: now };
      await installation.write(tx, NAME, JSON.stringify(mine));
      return mine;
    });
    this.watch = written.owner === owner ? written : null;
    if (this.watch === null) this.restsUntil = written.until;
    return this.watch !== null;
  }

  /** What is found, and that a round is over, is written at once; the rest now and then. */
  private async advance({ next: cursor, resume, violations }: LedgerPage): Promise<void> {
    const { watch } = this;
    if (watch === null) return;
    const found = watch.found + violations.length;
    const now = this.deps.clock.now();
    if (cursor !== null) {
      this.watch = { ...watch, cursor, found };
      if (violations.length > 0) await this.write(this.watch, now);
      return;
    }
    this.restsUntil = now + ROUND_MIN_MS;
    const fullRoundEndedAt = watch.isFull ? now : watch.fullRoundEndedAt;
    const ended = { found: 0, foundBefore: found, roundEndedAt: now, fullRoundEndedAt };
    await this.write({ ...watch, ...ended, cursor, resume }, now);
  }

  private log(violations: readonly LedgerViolation[]): void {
    for (const { invariant, subject, found } of violations) {
      const key = `${invariant} ${subject}`;
      if (this.logged.has(key) || this.logged.size >= LOGGED_MAX) continue;
      this.logged.add(key);
      this.deps.logger.error("The ledger breaks an invariant; run `fermata ledger verify`", {
        invariant,
        subject,
        found,
      });
    }
  }
}

const NOTHING_KNOWN = {
  ...{ cursor: null, resume: null, isFull: true },
  ...{ found: 0, foundBefore: 0, roundEndedAt: null, fullRoundEndedAt: null },
};

/** What the watch last wrote; null: no process has watched yet. */
export async function findLedgerWatch(installation: Pick<InstallationStore, "find">): Promise<LedgerWatch | null> {
  return parseLedgerWatch(await installation.find(NAME));
}

function parseLedgerWatch(stored: string | null): LedgerWatch | null {
  // What a version before this one wrote lacks some.
  return stored === null ? null : { ...NOTHING_KNOWN, ...(JSON.parse(stored) as LedgerWatch) };
}
