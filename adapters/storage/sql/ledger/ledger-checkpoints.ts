import { hash } from "node:crypto";
import type { LedgerEntry } from "../../../../core/credits/balance.js";
import { entryLine } from "../../../../core/credits/entry-line.js";
import type { Session, Table } from "../session.js";
import { AMOUNTS } from "./ledger-invariants.js";

export type Amounts = Record<(typeof AMOUNTS)[number], number>;

/** What a verification saw of an account: all entries up to the number `seq`, and what they add up to. */
export interface CheckpointRow extends Readonly<Amounts> {
  readonly account_id: string;
  readonly seq: number;
  /** The hashes of the entries, added without carry: whichever of them is changed, added or missing, it differs. */
  readonly checksum: string;
}

const CHECKPOINTS: Table<CheckpointRow> = {
  name: "ledger_checkpoints",
  columns: ["account_id", "seq", ...AMOUNTS, "checksum"],
  key: ["account_id"],
};

export const CHECKPOINT = `SELECT ${CHECKPOINTS.columns.join(", ")} FROM {ledger_checkpoints} WHERE account_id = ?`;

/** The checksum of no entries. */
export const NO_CHECKSUM = "0".repeat(64);

/** Of all entries, and of those of an account in whichever order. */
export class Checksum {
  private readonly bytes: Buffer;

  constructor(checksum: string = NO_CHECKSUM) {
    this.bytes = Buffer.from(checksum, "hex");
  }

  /** Adds an entry; one that was added before is taken away again. */
  add(entry: LedgerEntry): void {
    const hashed = hash("sha256", entryLine(entry), "buffer");
    for (let at = 0; at < hashed.length; at += 4)
      this.bytes.writeInt32LE(this.bytes.readInt32LE(at) ^ hashed.readInt32LE(at), at);
  }

  toString(): string {
    return this.bytes.toString("hex");
  }
}

/** Writes checkpoints, but for those that another verification has taken further meanwhile. */
export async function keepCheckpoints(
  session: Session,
  forUpdate: string,
  checkpoints: readonly CheckpointRow[],
): Promise<void> {
  const sorted = [...checkpoints].sort((one, other) => (one.account_id < other.account_id ? -1 : 1));
  const stored = await session.allEach<CheckpointRow>(
    CHECKPOINT + forUpdate,
    sorted.map((checkpoint) => [checkpoint.account_id]),
  );
  const reached = new Map(stored.map(({ account_id, seq }) => [account_id, seq]));
  await session.upsert(
    CHECKPOINTS,
    sorted.filter(({ account_id, seq }) => seq > (reached.get(account_id) ?? 0)),
  );
}
