import { monotonicFactory } from "ulid";
import type { IdByPrefix, IdPrefix } from "../../core/ids.js";
import type { Clock } from "../../core/ports/clock.js";
import type { IdGenerator } from "../../core/ports/id-generator.js";
import type { Random } from "../../core/ports/random.js";

/**
 * ULIDs in lower case: 48 bits of time, 80 random bits. Within a millisecond, and when the clock steps back, the random
 * part is counted up, so that order holds.
 */
export class UlidGenerator implements IdGenerator {
  private readonly nextUlid: (time: number) => string;

  constructor(
    private readonly clock: Clock,
    random: Random,
  ) {
    this.nextUlid = monotonicFactory(fractionsFrom(random));
  }

  next<P extends IdPrefix>(prefix: P): IdByPrefix[P] {
    return `${prefix}_${this.nextUlid(this.clock.now()).toLowerCase()}` as IdByPrefix[P];
  }
}

/** Read in bulk: a system call for every character would cost more than all else in an id. */
const BUFFER_BYTES = 4_096;

/** `ulid` asks for a fraction per character and takes 5 bits of it; an unpredictable byte carries them evenly. */
function fractionsFrom(random: Random): () => number {
  let buffer = new Uint8Array(0);
  let used = 0;
  return () => {
    if (used === buffer.length) {
      buffer = Uint8Array.from(random.bytes(BUFFER_BYTES));
      used = 0;
    }
    return (buffer[used++] ?? 0) / 256;
  };
}
