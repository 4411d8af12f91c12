import type { Clock } from "../ports/clock.js";

/** Under a second, counted from before the read: a revocation or suspension holds within 1 s in every process. */
const CACHE_MS = 900;
const CACHE_MAX = 10_000;

interface Read<T> {
  readonly value: T;
  readonly readAt: number;
}

/** Keeps what was found for less than a second; what was not found is read again. */
export class BriefCache<T> {
  private cache = new Map<string, Read<T>>();
  private readonly reading = new Map<string, Read<Promise<T | undefined>>>();

  constructor(
    private readonly clock: Pick<Clock, "now">,
    private readonly read: (key: string) => Promise<T | undefined>,
  ) {}

  async get(key: string): Promise<T | undefined> {
    const now = this.clock.now();
    const cached = this.cache.get(key);
    if (cached !== undefined && isFresh(cached.readAt, now)) return cached.value;
    // Requests that arrive together share one read; a read that hangs may return an outdated result.
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
    const value = await this.read(key);
    if (value === undefined) return undefined;
    if (this.cache.size >= CACHE_MAX) this.cache = new Map();
    this.cache.set(key, { value, readAt: now });
    return value;
  }
}

/** False also when the clock was set back since. */
function isFresh(readAt: number, now: number): boolean {
  return now >= readAt && now < readAt + CACHE_MS;
}
