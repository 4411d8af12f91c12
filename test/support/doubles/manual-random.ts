import type { Random } from "../../../core/ports/random.js";

/**
 * In place of the system's randomness: bytes that are the same in every run, and a fraction that a test sets.
 *
 * @example
 * const random = new ManualRandom();
 * random.nextFraction = 0; // the shortest wait where waits have jitter
 * assert.deepEqual(random.bytes(4), new ManualRandom().bytes(4));
 */
export class ManualRandom implements Random {
  /** The result of `fraction`. */
  nextFraction = 0.5;

  constructor(private state = 1) {}

  bytes(count: number): Uint8Array {
    return Uint8Array.from({ length: count }, () => this.nextByte());
  }

  fraction(): number {
    return this.nextFraction;
  }

  /** mulberry32 */
  private nextByte(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) & 0xff;
  }
}
