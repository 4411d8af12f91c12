import type { CorePorts } from "./core-ports.js";
import type { Stores } from "./stores.js";

/** The schema of an open storage. */
export interface StorageSchema {
  /** @throws {Error} it is not the one of this version: naming what it lacks, or what a newer version has changed */
  check(): Promise<void>;
  /**
   * Brings it up to date; of several processes at once, one does.
   *
   * @returns the names of the migrations that were applied
   * @throws {Error} it cannot be: a newer version has changed it, or what is there is not Fermata's
   */
  migrate(): Promise<readonly string[]>;
}

/** Connections that a process holds to its storage. */
export interface PoolFigures {
  /** What they are for, such as `write`; one of a few names. */
  readonly pool: string;
  /** At work now. */
  readonly used: number;
  /** Open, and idle. */
  readonly free: number;
  /** Callers that wait for one. */
  readonly waiting: number;
  readonly max: number;
}

/** A storage that is open. */
export interface OpenedStorage {
  readonly stores: Stores;
  /** Absent: there is nothing to migrate. */
  readonly schema?: StorageSchema;
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
  /** How its connections are used now, for the metrics. Absent: they have nothing to show of it. */
  readonly pools?: () => readonly PoolFigures[];
  /** Called once, after everything that uses the stores has ended. Absent: there is nothing to close. */
  readonly close?: () => Promise<void>;
}
