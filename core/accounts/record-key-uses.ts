import { BackgroundLoop } from "../background-loop.js";
import type { ApiKeyId } from "../ids.js";
import type { ApiKey } from "../ports/account.js";
import type { AccountStore } from "../ports/account-store.js";
import type { Clock } from "../ports/clock.js";
import type { Logger } from "../ports/logger.js";
import type { UnitOfWork } from "../ports/unit-of-work.js";

export interface RecordKeyUsesDeps {
  readonly accounts: Pick<AccountStore, "noteKeyUses">;
  readonly unitOfWork: UnitOfWork;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** What is stored of the last use of a key is at most this much older than it, and what {@link FLUSH_MS} adds. */
export const USE_EVERY_MS = 60_000;
/** How long a use waits for those of other keys. */
export const FLUSH_MS = 1_000;
const ERROR_PAUSE_MS = 5_000;
/** In one transaction. */
const BATCH_MAX = 200;
/** Beyond them uses are not noted, until those that wait are written. */
const WAITING_MAX = 10_000;

/**
 * When keys were last used: written once a minute for each key that is used, those of all keys together, and never
 * while a request waits. A request costs a comparison. What a lost process had not written is lost.
 */
export class RecordKeyUses {
  private waiting = new Map<ApiKeyId, number>();
  private readonly loop: BackgroundLoop;

  constructor(private readonly deps: RecordKeyUsesDeps) {
    const { clock, logger } = deps;
    const onError = { errorPauseMs: ERROR_PAUSE_MS, errorMessage: "The last use of API keys could not be written" };
    this.loop = new BackgroundLoop({ step: () => this.drain(), ...onError, clock, logger });
    this.loop.start(null);
  }

  /** Notes that a key is used now. Never throws, never waits. */
  note({ id, lastUsedAt }: Pick<ApiKey, "id" | "lastUsedAt">): void {
    const now = this.deps.clock.now();
    if (lastUsedAt !== null && now < lastUsedAt + USE_EVERY_MS) return;
    if (this.waiting.size === 0) this.loop.wake(FLUSH_MS);
    if (this.waiting.size < WAITING_MAX || this.waiting.has(id)) this.waiting.set(id, now);
  }

  /** Writes what waits, once; what cannot be written then is lost. */
  async close(): Promise<void> {
    await this.loop.stop();
    try {
      while ((await this.drain()) !== null);
    } catch (error) {
      this.deps.logger.warn("The last use of some API keys could not be written", { error, keys: this.waiting.size });
    }
  }

  /** @returns null when no more wait */
  private async drain(): Promise<number | null> {
    const batch = [...this.waiting].slice(0, BATCH_MAX);
    if (batch.length === 0) return null;
    const uses = batch.map(([id, usedAt]) => ({ id, usedAt, unlessAfter: usedAt - USE_EVERY_MS }));
    await this.deps.unitOfWork.inTransaction((tx) => this.deps.accounts.noteKeyUses(tx, uses));
    for (const [id, usedAt] of batch) if (this.waiting.get(id) === usedAt) this.waiting.delete(id);
    return this.waiting.size === 0 ? null : 0;
  }
}
