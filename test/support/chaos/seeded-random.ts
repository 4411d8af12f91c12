import { randomInt } from "node:crypto";

/** A seed to run with: the one in FERMATA_TEST_SEED, or a new one. */
export function aSeed(): number {
  return Number(process.env["FERMATA_TEST_SEED"] ?? randomInt(2 ** 31));
}

/** Random numbers that are the same for the same seed (mulberry32). The timing of the machine is not. */
export class SeededRandom {
  constructor(private state: number) {}

  /** From 0 to 1. */
  fraction(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  between(least: number, most: number): number {
    return least + this.fraction() * (most - least);
  }

  pick<T>(list: readonly T[]): T | undefined {
    return list[Math.floor(this.fraction() * list.length)];
  }

  /** The same things in any order. */
  shuffled<T>(list: readonly T[]): T[] {
    return list
      .map((thing) => [this.fraction(), thing] as const)
      .sort(([one], [other]) => one - other)
      .map(([, thing]) => thing);
  }
}
