import { assert } from "../assert.js";

/** Most requests in a minute and in a day. */
export interface RateLimit {
  readonly perMinute: number;
  readonly perDay: number;
}

/** The kinds of requests that are counted apart: all GETs; POST /generations; writes of webhook endpoints. */
export type RateLimitKind = "read" | "generation" | "write";

export interface Tier {
  readonly name: string;
  /** Jobs queued or processing at once. */
  readonly maxConcurrent: number;
  /** Monthly credits after a renewal. */
  readonly monthlyCredits: number;
  readonly rateLimits: Readonly<Record<RateLimitKind, RateLimit>>;
}

/** The tiers named in config. */
export class Tiers {
  private readonly byName: ReadonlyMap<string, Tier>;
  private readonly first: Tier;

  constructor(tiers: readonly Tier[]) {
    const first = tiers[0];
    assert(first !== undefined, "there is at least one tier");
    this.first = first;
    this.byName = new Map(tiers.map((tier) => [tier.name, tier]));
  }

  get names(): readonly string[] {
    return [...this.byName.keys()];
  }

  has(name: string): boolean {
    return this.byName.has(name);
  }

  /** The tier of this name; the first one in config when an account's tier is no longer there. */
  of(name: string): Tier {
    return this.byName.get(name) ?? this.first;
  }
}
