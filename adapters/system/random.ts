import { randomBytes } from "node:crypto";
import type { Random } from "../../core/ports/random.js";

/** The operating system's randomness. */
export class SystemRandom implements Random {
  bytes(count: number): Uint8Array {
    return new Uint8Array(randomBytes(count));
  }

  fraction(): number {
    return Math.random();
  }
}
