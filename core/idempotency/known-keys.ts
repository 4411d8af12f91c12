import { GroupedReads } from "../grouped-reads.js";
import type { Clock } from "../ports/clock.js";
import type { IdempotencyKey, IdempotencyRecord, IdempotencyStore } from "../ports/idempotency-store.js";
import type { AccountId } from "../ids.js";
import { isValid } from "./replay.js";

/** Some 150 bytes each. */
const KNOWN_MAX = 10_000;

export interface KnownKeysDeps {
  readonly idempotency: Pick<IdempotencyStore, "readRecords">;
  readonly clock: Pick<Clock, "now">;
}

/**
 * The keys that this process last saw used. A request that repeats one of them needs no transaction: its record is read
 * together with those of other such requests. Any other key may have a record all the same, of another process.
 */
export class KnownKeys {
  private readonly known = new Set<string>();
  private readonly reads: GroupedReads<string, IdempotencyRecord>;

  constructor({ idempotency, clock }: KnownKeysDeps) {
    this.reads = new GroupedReads(clock, async (names) => {
      const records = await idempotency.readRecords(names.map(keyOf));
      const now = clock.now();
      return new Map(records.flatMap((record) => (isValid(record, now) ? [[nameOf(record), record] as const] : [])));
    });
  }

  /** Notes a key that has a record. */
  note(key: IdempotencyKey): void {
    const name = nameOf(key);
    this.known.delete(name);
    this.known.add(name);
    const [oldest] = this.known;
    if (this.known.size > KNOWN_MAX && oldest !== undefined) this.known.delete(oldest);
  }

  has(key: IdempotencyKey): boolean {
    return this.known.has(nameOf(key));
  }

  /**
   * The record of a key; null: it has expired, or was deleted with its account.
   *
   * @throws {ServiceUnavailableError} the storage cannot be reached
   */
  async find(key: IdempotencyKey): Promise<IdempotencyRecord | null> {
    const name = nameOf(key);
    const record = await this.reads.get(name);
    if (record === undefined) this.known.delete(name);
    return record ?? null;
  }
}

function nameOf({ accountId, keyHash }: IdempotencyKey): string {
  return `${accountId} ${keyHash}`;
}

function keyOf(name: string): IdempotencyKey {
  const [accountId, keyHash] = name.split(" ");
  return { accountId: accountId as AccountId, keyHash: keyHash as string };
}
