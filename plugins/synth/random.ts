/** FNV-1a over UTF-16 code units, 32 bits. */
export function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0;
}

/** A repeatable stream of random numbers (sfc32). Equal seed and purpose give the equal stream. */
export class Random {
  private a: number;
  private b: number;
  private c: number;
  private counter = 1;

  /** @param purpose separates streams, so that a change in the drums does not change the melody */
  constructor(
    private readonly seed: number,
    purpose: string,
  ) {
    this.a = seed;
    this.b = hashText(purpose);
    this.c = 0x9e3779b9;
    for (let round = 0; round < 12; round += 1) this.next();
  }

  /** Another stream of the same seed. */
  fork(purpose: string): Random {
    return new Random(this.seed, purpose);
  }

  /** At least 0, below 1. */
  next(): number {
    const sum = (this.a + this.b + this.counter) | 0;
    this.counter = (this.counter + 1) | 0;
    this.a = this.b ^ (this.b >>> 9);
    this.b = (this.c + (this.c << 3)) | 0;
    this.c = ((this.c << 21) | (this.c >>> 11)) + sum;
    return (sum >>> 0) / 4294967296;
  }

  between(low: number, high: number): number {
    return low + (high - low) * this.next();
  }

  /** A whole number; both ends included. */
  integer(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** One of a list that is not empty. */
  pick<T>(list: readonly [T, ...T[]] | readonly T[]): T {
    const chosen = list[Math.floor(this.next() * list.length)];
    if (chosen === undefined) throw new RangeError("cannot pick from an empty list");
    return chosen;
  }
}
