import type { Transaction } from "./unit-of-work.js";

/** Facts about this installation that all its processes must agree on. Selected by `storage.url`. */
export interface InstallationStore {
  /** What is kept under `name`; null when nothing is. */
  find(name: string): Promise<string | null>;
  /** Keeps `value` under `name` unless something is kept there already. @returns what is kept */
  keepFirst(name: string, value: string): Promise<string>;
  /** Keeps `value` under `name`, in place of what is kept there. */
  keep(name: string, value: string): Promise<void>;
  /**
   * Reads what is kept under `name` and keeps it from changing until `tx` ends. Where nothing is kept it returns null
   * and locks nothing.
   */
  lock(tx: Transaction, name: string): Promise<string | null>;
  /** The same as {@link keep}, as part of `tx`. */
  write(tx: Transaction, name: string, value: string): Promise<void>;
}
