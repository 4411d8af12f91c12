import {
  AccountSuspendedError,
  AuthenticationRequiredError,
  InsufficientScopeError,
  InvalidApiKeyError,
  RevokedApiKeyError,
  ApiTermsNotAcceptedError,
} from "../errors.js";
import type { AccountStore, KeyHolder } from "../ports/account-store.js";
import type { Clock } from "../ports/clock.js";
import type { Digest } from "../ports/digest.js";
import { isWellFormedToken } from "./api-key.js";
import type { Scope } from "../ports/scopes.js";

/** Under a second, counted from before the read: a revocation or suspension holds within 1 s in every process. */
const CACHE_MS = 900;
const CACHE_MAX_KEYS = 10_000;

const BEARER = /^Bearer +([^\s]+) *$/i;

export interface AuthenticateDeps {
  readonly accounts: AccountStore;
  readonly digest: Digest;
  readonly clock: Clock;
}

/** Identifies the account of a request. */
export class Authenticate {
  private cache = new Map<string, { readonly holder: KeyHolder; readonly readAt: number }>();
  private readonly reading = new Map<
    string,
    { readonly holder: Promise<KeyHolder | undefined>; readonly readAt: number }
  >();

  constructor(private readonly deps: AuthenticateDeps) {}

  /**
   * @param header the Authorization header
   * @throws {AuthenticationRequiredError} no bearer key in it
   * @throws {InvalidApiKeyError} malformed, or a key that was never issued
   * @throws {RevokedApiKeyError} revoked, or expired
   */
  async identify(header: string | undefined): Promise<KeyHolder> {
    if (header === undefined || header.trim() === "" || /^Bearer *$/i.test(header))
      throw new AuthenticationRequiredError();
    const token = BEARER.exec(header)?.[1];
    if (token === undefined) {
      // Another scheme carries no API key; `Bearer` with something unreadable behind it carries a wrong one.
      throw /^Bearer /i.test(header) ? new InvalidApiKeyError() : new AuthenticationRequiredError();
    }
    if (!isWellFormedToken(token)) throw new InvalidApiKeyError();
    const holder = await this.holderOf(this.deps.digest.sha256(token));
    if (holder === undefined) throw new InvalidApiKeyError();
    if (holder.key.revokedAt !== null) throw new RevokedApiKeyError();
    // Not a matter of the cache: the moment is known in advance.
    const { expiresAt } = holder.key;
    if (expiresAt !== null && this.deps.clock.now() >= expiresAt)
      throw new RevokedApiKeyError("The API key has expired.");
    return holder;
  }

  private async holderOf(tokenHash: string): Promise<KeyHolder | undefined> {
    const now = this.deps.clock.now();
    const cached = this.cache.get(tokenHash);
    if (cached !== undefined && isFresh(cached.readAt, now)) return cached.holder;
    // Requests that arrive together share one read; a read that hangs may return an outdated result.
    const running = this.reading.get(tokenHash);
    if (running !== undefined && isFresh(running.readAt, now)) return running.holder;
    const read = { holder: this.read(tokenHash, now), readAt: now };
    this.reading.set(tokenHash, read);
    try {
      return await read.holder;
    } finally {
      if (this.reading.get(tokenHash) === read) this.reading.delete(tokenHash);
    }
  }

  private async read(tokenHash: string, now: number): Promise<KeyHolder | undefined> {
    const holder = (await this.deps.accounts.findKeyHolders([tokenHash])).get(tokenHash);
    if (holder === undefined) return undefined;
    if (this.cache.size >= CACHE_MAX_KEYS) this.cache = new Map();
    this.cache.set(tokenHash, { holder, readAt: now });
    return holder;
  }
}

/** False also when the clock was set back since. */
function isFresh(readAt: number, now: number): boolean {
  return now >= readAt && now < readAt + CACHE_MS;
}

/**
 * Checks what the key may do: suspension before terms, terms before scope.
 *
 * @param scope null where any key will do
 * @throws {AccountSuspendedError}
 * @throws {ApiTermsNotAcceptedError} {@link InsufficientScopeError}
 */
export function authorize(holder: KeyHolder, scope: Scope | null): void {
  if (holder.account.suspendedAt !== null) throw new AccountSuspendedError();
  if (holder.account.termsAcceptedAt === null) throw new ApiTermsNotAcceptedError();
  if (scope !== null && !holder.key.scopes.includes(scope)) throw new InsufficientScopeError(scope);
}
