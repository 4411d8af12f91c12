import { GroupedReads } from "../grouped-reads.js";
import type { Clock } from "../ports/clock.js";

/** Under a second, counted from before the read: a revocation or suspension holds within 1 s in every process. */
const CACHE_MS = 900;
/** What is still asked for at this age is read again before it is too old, so that no caller waits for it. */
const AHEAD_MS = 450;
/** How long such a read waits for those of other keys. */
const TOGETHER_MS = 150;
const CACHE_MAX = 10_000;

interface Read<T> {
  readonly value: T;
  readonly readAt: number;
}

/**
 * Keeps what was found for less than a second; what was not found is read again. What stays in use is read again ahead,
 * many keys in one read.
 */
export class BriefCache<T> {
  private cache = new Map<string, Read<T>>();
  private readonly reading = new Map<string, Read<Promise<T | undefined>>>();
  private readonly reads: GroupedReads<string, T>;
  /** In use, and soon too old. */
  private ahead = new Set<string>();

  /** @param read finds values by key; keys without one are missing */
  constructor(
    private readonly clock: Pick<Clock, "now" | "sleep">,
    read: (keys: readonly string[]) => Promise<ReadonlyMap<string, T>>,
  ) {
    this.reads = new GroupedReads(clock, read);
  }

  async get(key: string): Promise<T | undefined> {
    const now = this.clock.now();
    return this.fresh(key, now) ?? this.readShared(key, now);
  }

  /** What is kept of a key; undefined where it would be read. */
  kept(key: string): T | undefined {
    return this.fresh(key, this.clock.now());
  }

  private fresh(key: string, now: number): T | undefined {
    const cached = this.cache.get(key);
    if (cached === undefined || !isFresh(cached.readAt, now)) return undefined;
    if (now >= cached.readAt + AHEAD_MS) this.readAhead(key);
    return cached.value;
  }

  /** Requests that arrive together share one read; a read that hangs may return an outdated result. */
  private async readShared(key: string, now: number): Promise<T | undefined> {
    const running = this.reading.get(key);
    if (running !== undefined && isFresh(running.readAt, now)) return running.value;
    const read = { value: this.readAndKeep(key, now), readAt: now };
    this.reading.set(key, read);
    try {
      return await read.value;
    } finally {
      if (this.reading.get(key) === read) this.reading.delete(key);
    }
  }

  private async readAndKeep(key: string, now: number): Promise<T | undefined> {
    const value = await this.reads.get(key);
    if (value === undefined) return undefined;
    if (this.cache.size >= CACHE_MAX) this.cache = new Map();
    this.cache.set(key, { value, readAt: now });
    return value;
  }

  private readAhead(key: string): void {
    if (this.ahead.size === 0) void this.readAllAhead();
    this.ahead.add(key);
  }

  /** One that fails is read by the next request that needs it, which reports why. */
  private async readAllAhead(): Promise<void> {
    await this.clock.sleep(TOGETHER_MS);
    const keys = this.ahead;
    this.ahead = new Set();
    const now = this.clock.now();
    for (const key of keys) {
      const { readAt = 0 } = this.cache.get(key) ?? {};
      // Meanwhile a request may have read it.
      if (now >= readAt + AHEAD_MS || now < readAt) void this.readShared(key, now).catch(() => undefined);
    }
  }
}

/** False also when the clock was set back since. */
function isFresh(readAt: number, now: number): boolean {
  return now >= readAt && now < readAt + CACHE_MS;
}
