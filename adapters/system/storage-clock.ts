import type { Clock } from "../../core/ports/clock.js";
import type { Logger } from "../../core/ports/logger.js";
import { SystemClock } from "./clock.js";

const MEASURE_EVERY_MS = 60_000;
/** After a measurement that failed. */
const RETRY_MS = 5_000;

const SAMPLES_MAX = 5;
/** A sample is wrong by half of its round trip at most. One as quick as this ends the sampling. */
const QUICK_ROUND_TRIP_MS = 10;
/** A sample that took longer says less than the monotonic clock does since the last measurement. */
const ROUND_TRIP_MAX_MS = 1_000;

/** A clock that is ahead runs at half speed until it is right. Further ahead than this, it is set back. */
const SLEW = 0.5;
const SLEW_MAX_MS = 10_000;

/**
 * While a machine is suspended its monotonic clock stands still, and its wall clock does not: when the two differ by so
 * much, the storage's clock is measured at once.
 */
const DRIFT_MAX_MS = 1_000;

/** Beyond this the machine's clock is worth fixing. */
export const OFFSET_MAX_MS = 2_000;

export interface StorageClockOptions {
  /** The storage's clock, in milliseconds since 1970. */
  readonly readStorageTime: () => Promise<number>;
  readonly logger: Logger;
  /** Milliseconds of a clock that is never set; `performance.now()` by default. */
  readonly monotonic?: () => number;
  /** The machine's clock, which is compared and never followed; `Date.now()` by default. */
  readonly wall?: () => number;
}

/** What the storage's clock said at a moment of the monotonic one. */
export interface StorageTime {
  readonly time: number;
  readonly at: number;
  readonly roundTripMs: number;
}

/** Takes the quickest of a few samples, as if the storage had read its clock halfway. Fails as `read` does. */
export async function measureStorageTime(read: () => Promise<number>, monotonic: () => number): Promise<StorageTime> {
  let best: StorageTime | null = null;
  for (let taken = 0; taken < SAMPLES_MAX; taken++) {
    const sentAt = monotonic();
    const time = await read();
    const roundTripMs = monotonic() - sentAt;
    if (best === null || roundTripMs < best.roundTripMs) best = { time, at: sentAt + roundTripMs / 2, roundTripMs };
    if (best.roundTripMs <= QUICK_ROUND_TRIP_MS) break;
  }
  return best as StorageTime;
}

/**
 * The storage's time, so that all processes on one storage agree on what is due and what is over, however wrong their
 * machines' clocks are. It is measured at the start and every minute; between measurements it runs on the monotonic
 * clock, never on the machine's. A measurement that fails changes nothing and is repeated.
 *
 * Where a measurement finds this clock behind, it is set forward at once: other processes have acted on the later time
 * already. Where it is ahead by up to 10 s it runs at half speed until it is right, so that it never steps back;
 * further ahead, it is set back, as the storage's clock itself was.
 */
export class StorageClock implements Clock {
  private readonly machine = new SystemClock();
  private readonly monotonic: () => number;
  private readonly wall: () => number;
  private readonly logger: Logger;
  /** The storage's time at a moment of the monotonic clock. */
  private base = { time: 0, at: 0 };
  /** How far this clock was ahead then. */
  private excessMs = 0;
  /** How far the wall clock was ahead of the monotonic one at the last attempt to measure. */
  private wallLeadMs = 0;
  private isOff = false;
  private timer: NodeJS.Timeout | undefined;
  private measuring: Promise<void> | null = null;
  private isClosed = false;

  private constructor(private readonly options: StorageClockOptions) {
    this.monotonic = options.monotonic ?? (() => performance.now());
    this.wall = options.wall ?? (() => Date.now());
    this.logger = options.logger.child({ component: "clock" });
  }

  /** Measures now, and then every minute until {@link close}. Fails when the storage's clock cannot be read. */
  static async start(options: StorageClockOptions): Promise<StorageClock> {
    const clock = new StorageClock(options);
    const { time, at, roundTripMs } = await measureStorageTime(options.readStorageTime, clock.monotonic);
    clock.base = { time, at };
    clock.compareWithMachine();
    clock.schedule(roundTripMs > ROUND_TRIP_MAX_MS ? RETRY_MS : MEASURE_EVERY_MS);
    return clock;
  }

  now(): number {
    const at = this.monotonic();
    if (Math.abs(this.wall() - at - this.wallLeadMs) > DRIFT_MAX_MS) void this.measure();
    return Math.floor(this.timeAt(at));
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return this.machine.sleep(ms, signal);
  }

  /** How far the machine's clock is ahead of the storage's, in milliseconds; below zero when it is behind. */
  get offsetMs(): number {
    return this.wall() - this.base.time - (this.monotonic() - this.base.at);
  }

  /** Measures now; while a measurement is under way, it is that one. Never rejects. */
  measure(): Promise<void> {
    if (this.isClosed) return Promise.resolve();
    this.measuring ??= this.measureOnce().finally(() => (this.measuring = null));
    return this.measuring;
  }

  /** Measures no more, but for a measurement that is under way; the clock runs on. A second time does nothing. */
  close(): void {
    this.isClosed = true;
    clearTimeout(this.timer);
  }

  private async measureOnce(): Promise<void> {
    // Or `now()` would ask for the next measurement as soon as this one has failed.
    this.wallLeadMs = this.wall() - this.monotonic();
    clearTimeout(this.timer);
    let isMeasured = false;
    try {
      const sample = await measureStorageTime(this.options.readStorageTime, this.monotonic);
      isMeasured = sample.roundTripMs <= ROUND_TRIP_MAX_MS;
      if (isMeasured) this.follow(sample);
    } catch (error) {
      this.logger.debug("The storage's clock could not be read; the last measurement stays in use", { error });
    }
    if (!this.isClosed) this.schedule(isMeasured ? MEASURE_EVERY_MS : RETRY_MS);
  }

  private follow(sample: StorageTime): void {
    const at = this.monotonic();
    const time = sample.time + (at - sample.at);
    const aheadMs = this.timeAt(at) - time;
    if (Math.abs(aheadMs) > OFFSET_MAX_MS) {
      const seconds = -aheadMs / 1000;
      this.logger.warn("The storage's clock was set, or this machine slept: the storage's time is taken", { seconds });
    }
    this.base = { time, at };
    this.excessMs = aheadMs > 0 && aheadMs <= SLEW_MAX_MS ? aheadMs : 0;
    this.compareWithMachine();
  }

  private timeAt(at: number): number {
    const sinceMs = at - this.base.at;
    return this.base.time + sinceMs + Math.max(0, this.excessMs - sinceMs * SLEW);
  }

  private compareWithMachine(): void {
    this.wallLeadMs = this.wall() - this.monotonic();
    const seconds = this.offsetMs / 1000;
    const offMs = Math.abs(this.offsetMs);
    if (!this.isOff && offMs > OFFSET_MAX_MS) {
      this.isOff = true;
      const message = "This machine's clock differs from the storage's, which is used for all that is stored";
      this.logger.warn(message, { seconds });
    } else if (this.isOff && offMs < OFFSET_MAX_MS / 2) {
      this.isOff = false;
      this.logger.info("This machine's clock agrees with the storage's again", { seconds });
    }
  }

  private schedule(ms: number): void {
    this.timer = setTimeout(() => void this.measure(), ms).unref();
  }
}
