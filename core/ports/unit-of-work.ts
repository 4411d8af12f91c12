declare const transactionBrand: unique symbol;

/**
 * A handle on one open transaction; only the storage that created it can read it. What is asked for with it is carried
 * out in the order in which it is asked for, also before the answers to what came before: asked for together, it costs
 * one wait.
 */
export interface Transaction {
  readonly [transactionBrand]: true;
}

/** The run of a transaction, for its work. */
export interface TransactionRun {
  /**
   * False in the first run of the work. True in every later one: the run before was rolled back, or it was committed
   * and the reply to the commit was lost. A caller that begins a new transaction for work it may have done before (a
   * report that it sends again) gets false, and has to look for its rows itself.
   */
  readonly isRetry: boolean;
}

/** Rows that a transaction asked for without waiting for others; keys without a row are in neither. */
export interface Locked<Key, Row> {
  /** In ascending order of key; they stay as they are until the transaction ends. */
  readonly locked: ReadonlyMap<Key, Row>;
  /** Whose rows other transactions hold. Empty where transactions write one after another. */
  readonly busy: ReadonlySet<Key>;
}

/** What one transaction does. */
export type TransactionWork<T> = (tx: Transaction, run: TransactionRun) => Promise<T>;

/**
 * An open transaction of the app that embeds Fermata, on the database that has Fermata's tables. What it can be is the
 * storage's to say; it takes it as it is, and refuses what it does not know.
 */
export type HostTransaction = object;

/** Atomic, durable changes. Selected by `storage.url`. */
export interface UnitOfWork {
  /** How many transactions can make progress at once; 1 where every writer waits for the one before. */
  readonly concurrentWriters: number;

  /**
   * Runs `work` in one transaction and commits. When `work` throws, nothing is written and the error passes on. A lost
   * race (deadlock, lock wait, duplicate key, lost connection) runs `work` again from its start, a few times: it must
   * read all it decides on inside, and take its ids from outside. Where `isRetry` is true, it first looks for its own
   * rows. No network call belongs inside.
   *
   * Locks are taken in one order: idempotency records, jobs, balances (ascending account id), inserts.
   *
   * @throws {RowsLockedError} other transactions went on holding rows that `work` waited for; nothing was written
   * @throws {ServiceUnavailableError} the storage cannot be reached or stays busy; nothing was written
   */
  inTransaction<T>(work: TransactionWork<T>): Promise<T>;

  /**
   * Runs `work` once inside a transaction that is not this storage's own: its owner commits it, or rolls it back. When
   * `work` throws, nothing of it is left in the transaction, and the error passes on. Absent where the storage cannot.
   *
   * @param committed called with what `work` returned once the transaction was committed, where the storage hears of
   *   that; also called where it only knows that the transaction has ended
   * @throws {OperationRefusedError} `transaction` is none that it knows, is not open, or is one on other tables
   * @throws {TransactionLostError} it lost a race against another one: its owner has to roll it back
   * @throws {ServiceUnavailableError} the storage cannot be reached or stays busy
   */
  join?<T>(transaction: HostTransaction, work: TransactionWork<T>, committed: (result: T) => void): Promise<T>;
}
