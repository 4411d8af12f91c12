import { assert } from "../assert.js";

/** Most requests in a minute and in a day. */
export interface RateLimit {
  readonly perMinute: number;
  readonly perDay: number;
}

/**
 * Kinds of requests that have separate counts: all GETs; POST /generations; uploads, and writes of webhook endpoints.
 */
export type RateLimitKind = "read" | "generation" | "write";

/** What the uploaded tracks of an account may hold together; 0 of either: it may upload nothing. */
export interface UploadQuota {
  readonly maxTracks: number;
  readonly maxBytes: number;
}

export interface Tier {
  readonly name: string;
  /** Jobs queued or processing at once. */
  readonly maxConcurrent: number;
  /** Monthly credits after a renewal. */
  readonly monthlyCredits: number;
  readonly rateLimits: Readonly<Record<RateLimitKind, RateLimit>>;
  readonly uploads: UploadQuota;
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
