import type { Account } from "../ports/account.js";
import type { RateLimit, RateLimitKind, Tiers } from "../accounts/tiers.js";
import { RateLimitedError } from "../errors.js";
import type { RateDecision, RateLimiter, WindowRule, WindowStatus } from "../ports/rate-limiter.js";
import { clientNetwork } from "./client-network.js";
import { exhaustedWindow } from "./window.js";

const MINUTE_SECONDS = 60;
const DAY_SECONDS = 86_400;

/** The state of a caller's allowance, for the response headers. */
export interface Allowance {
  readonly kind: RateLimitKind;
  readonly windows: readonly WindowStatus[];
  /** Set when the request was one too many; it was not counted. */
  readonly exceeded: RateLimitedError | null;
}

export interface LimitsDeps {
  readonly limiter: RateLimiter;
  readonly tiers: Tiers;
  readonly authFailuresPerMinute: number;
}

/**
 * What accounts may ask in a minute and a day, by tier, and how often an address may fail to authenticate.
 *
 * @see API v1, section 8; decisions, "Rate limits"
 */
export class Limits {
  private readonly rules = new WeakMap<RateLimit, readonly WindowRule[]>();

  constructor(private readonly deps: LimitsDeps) {}

  /** Counts a request of this kind, unless it is one too many. */
  async consume(account: Account, kind: RateLimitKind): Promise<Allowance> {
    return toAllowance(kind, await this.deps.limiter.consume(subjectOf(account, kind), this.rulesOf(account, kind)));
  }

  /** The allowance as it is, counting nothing. */
  async peek(account: Account, kind: RateLimitKind): Promise<Allowance> {
    const allowance = toAllowance(
      kind,
      await this.deps.limiter.peek(subjectOf(account, kind), this.rulesOf(account, kind)),
    );
    return { ...allowance, exceeded: null };
  }

  /** Takes back a request that turned out to draw on another allowance. */
  giveBack(account: Account, kind: RateLimitKind): void {
    this.deps.limiter.giveBack(subjectOf(account, kind), this.rulesOf(account, kind));
  }

  /**
   * Counts a failed authentication of an address, or of the network that it stands for.
   *
   * @param address as the connection or a trusted proxy names it; undefined where there is none
   * @throws {RateLimitedError} it failed too often
   */
  async countAuthFailure(address: string | undefined): Promise<void> {
    const rules = [{ limit: this.deps.authFailuresPerMinute, windowSeconds: MINUTE_SECONDS }];
    const decision = await this.deps.limiter.consume(`auth ${clientNetwork(address)}`, rules);
    if (!decision.allowed) throw toError(decision.windows);
  }

  private rulesOf(account: Account, kind: RateLimitKind): readonly WindowRule[] {
    const limit: RateLimit = this.deps.tiers.of(account.tier).rateLimits[kind];
    let rules = this.rules.get(limit);
    if (rules === undefined) {
      rules = [
        { limit: limit.perMinute, windowSeconds: MINUTE_SECONDS },
        { limit: limit.perDay, windowSeconds: DAY_SECONDS },
      ];
      this.rules.set(limit, rules);
    }
    return rules;
  }
}

function subjectOf(account: Account, kind: RateLimitKind): string {
  return `${kind} ${account.id}`;
}

function toAllowance(kind: RateLimitKind, decision: RateDecision): Allowance {
  return { kind, windows: decision.windows, exceeded: decision.allowed ? null : toError(decision.windows) };
}

function toError(windows: readonly WindowStatus[]): RateLimitedError {
  const full = exhaustedWindow(windows) ?? windows[0];
  return new RateLimitedError({
    limit: full?.limit ?? 0,
    window_seconds: full?.windowSeconds ?? MINUTE_SECONDS,
    retry_after_seconds: full?.resetSeconds ?? MINUTE_SECONDS,
  });
}
