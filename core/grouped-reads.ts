import type { Clock } from "./ports/clock.js";

/** Two, so that a group is filled while another one is read. */
const RUNNING_MAX = 2;
/** A read that takes longer holds up no other group. */
const LATE_MS = 900;
const GROUP_MAX = 100;

interface PendingRead<Value> {
  readonly value: Promise<Value | undefined>;
  resolve(value: Value | undefined): void;
  reject(error: unknown): void;
}

/**
 * Reads by key in groups: what is asked for while reads are under way is read together afterwards. Alone when idle,
 * grouped under pressure, with no timer. The read of a key always begins after it was asked for, so that a caller sees
 * what it has written.
 */
export class GroupedReads<Key, Value> {
  private waiting = new Map<Key, PendingRead<Value>>();
  /** When each read that is under way began. */
  private readonly running = new Set<{ readonly startedAt: number }>();

  /** @param read finds values by key; keys without one are missing */
  constructor(
    private readonly clock: Pick<Clock, "now">,
    private readonly read: (keys: readonly Key[]) => Promise<ReadonlyMap<Key, Value>>,
  ) {}

  /** @throws what the read throws: all keys of a group fail together */
  get(key: Key): Promise<Value | undefined> {
    let pending = this.waiting.get(key);
    if (pending === undefined) {
      this.waiting.set(key, (pending = newPending<Value>()));
      this.next();
    }
    return pending.value;
  }

  private next(): void {
    while (this.waiting.size > 0 && this.mayBegin()) void this.readGroup(this.nextGroup());
  }

  private mayBegin(): boolean {
    if (this.running.size < RUNNING_MAX) return true;
    const lateBefore = this.clock.now() - LATE_MS;
    let inTime = 0;
    for (const { startedAt } of this.running) if (startedAt > lateBefore) inTime += 1;
    return inTime < RUNNING_MAX;
  }

  private nextGroup(): ReadonlyMap<Key, PendingRead<Value>> {
    const all = this.waiting;
    if (all.size <= GROUP_MAX) {
      this.waiting = new Map();
      return all;
    }
    const entries = [...all];
    this.waiting = new Map(entries.slice(GROUP_MAX));
    return new Map(entries.slice(0, GROUP_MAX));
  }

  private async readGroup(group: ReadonlyMap<Key, PendingRead<Value>>): Promise<void> {
    const run = { startedAt: this.clock.now() };
    this.running.add(run);
    try {
      const found = await this.read([...group.keys()]);
      for (const [key, { resolve }] of group) resolve(found.get(key));
    } catch (error) {
      for (const { reject } of group.values()) reject(error);
    } finally {
      this.running.delete(run);
      this.next();
    }
  }
}

function newPending<Value>(): PendingRead<Value> {
  let [resolve, reject]: [PendingRead<Value>["resolve"], PendingRead<Value>["reject"]] = [unset, unset];
  const value = new Promise<Value | undefined>((resolved, rejected) => ([resolve, reject] = [resolved, rejected]));
  return { value, resolve, reject };
}

function unset(): void {
  // Replaced before a promise's constructor returns.
}
