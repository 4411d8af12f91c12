import type { CorePorts } from "./core-ports.js";
import type { Stores } from "./stores.js";

/** A storage that is open, with the schema that its stores need. */
export interface OpenedStorage {
  readonly stores: Stores;
  /**
   * What a process needs to be ready, by the name that is reported where it fails. Absent: that a fact of the
   * installation can be read, as `storage`.
   */
  readonly checks?: Readonly<Record<string, () => Promise<unknown>>>;
  /**
   * The storage's clock, in milliseconds since 1970, by which all processes on it agree on what is due. Absent: each
   * goes by the clock of its machine.
   */
  readonly readTime?: () => Promise<number>;
  /** Renews leases by that clock. Absent: a timer of the process renews them. */
  readonly renewLeases?: CorePorts["renewLeases"];
  /** Called once, after everything that uses the stores has ended. Absent: there is nothing to close. */
  readonly close?: () => Promise<void>;
}
