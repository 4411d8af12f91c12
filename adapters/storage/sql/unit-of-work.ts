import type { Clock } from "../../../core/ports/clock.js";
import type { Random } from "../../../core/ports/random.js";
import { RowsLockedError, TransactionLostError } from "../../../core/errors.js";
import type { HostTransaction, TransactionWork, UnitOfWork } from "../../../core/ports/unit-of-work.js";
import { type KnexDatabase, unavailable } from "./database.js";
import { toTransaction } from "./session.js";

const TRIES_MAX = 5;
/** Each has waited for a lock as long as the dialect lets it. */
const LOCK_WAITS_MAX = 2;
const WAIT_MIN_MS = 5;
const WAIT_MAX_MS = 200;

export class KnexUnitOfWork implements UnitOfWork {
  constructor(
    private readonly database: KnexDatabase,
    private readonly clock: Clock,
    private readonly random: Random,
  ) {}

  get concurrentWriters(): number {
    return this.database.dialect.concurrentWriters;
  }

  async inTransaction<T>(work: TransactionWork<T>): Promise<T> {
    const { dialect } = this.database;
    for (let tries = 1; ; tries++) {
      try {
        return await this.database.transaction((session) => work(toTransaction(session), { isRetry: tries > 1 }));
      } catch (error) {
        const isLockWait = dialect.isLockWait(error);
        if (dialect.isLostRace(error) && tries < (isLockWait ? LOCK_WAITS_MAX : TRIES_MAX)) {
          await this.clock.sleep(this.waitMs(tries));
          continue;
        }
        if (isLockWait) throw new RowsLockedError({ cause: error });
        throw dialect.isUnavailable(error) ? unavailable(error) : error;
      }
    }
  }

  async join<T>(transaction: HostTransaction, work: TransactionWork<T>, committed: (result: T) => void): Promise<T> {
    const { dialect } = this.database;
    try {
      return await this.database.join(transaction, {
        work: (session) => work(toTransaction(session), { isRetry: false }),
        committed,
      });
    } catch (error) {
      // Only its owner can run it again.
      if (dialect.isLostRace(error)) throw new TransactionLostError({ cause: error });
      throw dialect.isUnavailable(error) ? unavailable(error) : error;
    }
  }

  /** Full jitter under a bound that doubles: two that lost to each other do not meet again. */
  private waitMs(tries: number): number {
    const bound = Math.min(WAIT_MIN_MS * 4 ** tries, WAIT_MAX_MS);
    return Math.round(WAIT_MIN_MS + (bound - WAIT_MIN_MS) * this.random.fraction());
  }
}
