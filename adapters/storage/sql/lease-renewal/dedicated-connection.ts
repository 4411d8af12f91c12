import type { Session } from "../session.js";
import type { TableNames } from "../table-names.js";

/** One connection of an engine, with as little around it as there can be. */
export interface DedicatedConnection {
  readonly session: Session;
  /** Reads the engine's clock; see `readTime`. */
  readonly timeQuery: string;
  /** False once the other end is known to be gone. */
  readonly isOpen: boolean;
  /** Whether another transaction holds a lock on this row, while others may be free. */
  isRowLocked(error: unknown): boolean;
  /** Never rejects. */
  close(): Promise<void>;
}

export interface ConnectionOptions {
  /** What follows the scheme in `storage.url`. */
  readonly target: string;
  readonly names: TableNames;
  readonly leaseMs: number;
}
