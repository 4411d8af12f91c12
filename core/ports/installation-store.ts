import type { Transaction } from "./unit-of-work.js";

/** Facts about this installation that all its processes must agree on. Selected by `storage.url`. */
export interface InstallationStore {
  /** What is kept under `name`; null when nothing is. */
  find(name: string): Promise<string | null>;
  /** Stores `value` under `name` unless a value is stored already. @returns the stored value */
  keepFirst(name: string, value: string): Promise<string>;
  /** Stores `value` under `name`, in place of an earlier value. */
  keep(name: string, value: string): Promise<void>;
  /**
   * Reads what is kept under `name` and keeps it from changing until `tx` ends. Where nothing is kept it returns null
   * and locks nothing.
   */
  lock(tx: Transaction, name: string): Promise<string | null>;
  /**
   * Keeps what is stored under `name` from changing until `tx` ends, without waiting for another transaction.
   *
   * @returns false where another one holds it, or nothing is stored under the name
   */
  tryLock(tx: Transaction, name: string): Promise<boolean>;
  /** The same as {@link keep}, as part of `tx`. */
  write(tx: Transaction, name: string, value: string): Promise<void>;
}
