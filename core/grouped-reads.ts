import type { Clock } from "./ports/clock.js";

/** Two, so that a group is filled while another one is read. */
const RUNNING_MAX = 2;
/** A read that takes longer holds up no other group. */
const LATE_MS = 900;
/** Keys of a group, unless one caller alone asks for more. */
const GROUP_MAX = 100;

interface PendingRead<Key, Value> {
  readonly keys: readonly Key[];
  resolve(found: ReadonlyMap<Key, Value>): void;
  reject(error: unknown): void;
}

/**
 * Reads by key in groups: what is asked for while reads are under way is read together afterwards. Alone when idle,
 * grouped under pressure, with no timer. The read of a key always begins after it was asked for, so that a caller sees
 * what it has written.
 */
export class GroupedReads<Key, Value> {
  private waiting: PendingRead<Key, Value>[] = [];
  /** When each read that is under way began. */
  private readonly running = new Set<{ readonly startedAt: number }>();

  /** @param read finds values by key; keys without one are missing */
  constructor(
    private readonly clock: Pick<Clock, "now">,
    private readonly read: (keys: readonly Key[]) => Promise<ReadonlyMap<Key, Value>>,
  ) {}

  /** @throws what the read throws: all keys of a group fail together */
  async get(key: Key): Promise<Value | undefined> {
    return (await this.getAll([key])).get(key);
  }

  /**
   * All of them in one read. @returns the values by key, those of other callers among them @throws as {@link get}
   */
  getAll(keys: readonly Key[]): Promise<ReadonlyMap<Key, Value>> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ keys, resolve, reject });
      this.next();
    });
  }

  private next(): void {
    while (this.waiting.length > 0 && this.mayBegin()) void this.readGroup(this.nextGroup());
  }

  private mayBegin(): boolean {
    if (this.running.size < RUNNING_MAX) return true;
    const lateBefore = this.clock.now() - LATE_MS;
    let inTime = 0;
    for (const { startedAt } of this.running) if (startedAt > lateBefore) inTime += 1;
    return inTime < RUNNING_MAX;
  }

  /** As many of those that wait, in their order, as may be read together; the first in any case. */
  private nextGroup(): readonly PendingRead<Key, Value>[] {
    let count = 0;
    let keys = 0;
    for (const pending of this.waiting) {
      keys += pending.keys.length;
      if (count > 0 && keys > GROUP_MAX) break;
      count += 1;
    }
    return this.waiting.splice(0, count);
  }

  private async readGroup(group: readonly PendingRead<Key, Value>[]): Promise<void> {
    const run = { startedAt: this.clock.now() };
    this.running.add(run);
    try {
      const found = await this.read([...new Set(group.flatMap(({ keys }) => keys))]);
      for (const { resolve } of group) resolve(found);
    } catch (error) {
      for (const { reject } of group) reject(error);
    } finally {
      this.running.delete(run);
      this.next();
    }
  }
}
