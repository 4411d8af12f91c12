import { monotonicFactory } from "ulid";
import type { IdByPrefix, IdPrefix } from "../../core/ids.js";
import type { Clock } from "../../core/ports/clock.js";
import type { IdGenerator } from "../../core/ports/id-generator.js";
import type { Random } from "../../core/ports/random.js";

/**
 * ULIDs in lower case: 48 bits of time, 80 random bits. Within a millisecond, and when the clock steps back, the random part is counted up, so
 * that order holds.
 */
export class UlidGenerator implements IdGenerator {
  private readonly nextUlid: (time: number) => string;

  constructor(
    private readonly clock: Clock,
    random: Random,
  ) {
    this.nextUlid = monotonicFactory(() => fractionFrom(random));
  }

  next<P extends IdPrefix>(prefix: P): IdByPrefix[P] {
    return `${prefix}_${this.nextUlid(this.clock.now()).toLowerCase()}` as IdByPrefix[P];
  }
}

/** `ulid` asks for a fraction per character and takes 5 bits of it; an unpredictable byte carries them evenly. */
function fractionFrom(random: Random): number {
  return (random.bytes(1)[0] ?? 0) / 256;
}
