import {
  AuthenticationRequiredError,
  InsufficientScopeError,
  InvalidApiKeyError,
  RevokedApiKeyError,
  ApiTermsNotAcceptedError,
} from "../errors.js";
import { isId } from "../ids.js";
import type { Account } from "../ports/account.js";
import type { AccountStore, KeyHolder } from "../ports/account-store.js";
import type { Clock } from "../ports/clock.js";
import type { Digest } from "../ports/digest.js";
import { isWellFormedToken } from "./api-key.js";
import { BriefCache } from "./brief-cache.js";
import type { RecordKeyUses } from "./record-key-uses.js";
import { checkIsOpen } from "./closed-account.js";
import type { Scope } from "../ports/scopes.js";

const BEARER = /^Bearer +([^\s]+) *$/i;

export interface AuthenticateDeps {
  readonly accounts: AccountStore;
  readonly digest: Digest;
  readonly clock: Clock;
  /** Hears of every key that is accepted; left out: no use is noted. */
  readonly uses?: Pick<RecordKeyUses, "note">;
}

/** Identifies the account of a request. */
export class Authenticate {
  private readonly holders: BriefCache<KeyHolder>;
  private readonly accounts: BriefCache<Account>;

  constructor(private readonly deps: AuthenticateDeps) {
    const { accounts, clock } = deps;
    this.holders = new BriefCache(clock, (hashes) => accounts.findKeyHolders(hashes));
    this.accounts = new BriefCache(clock, (ids) => accounts.findAccounts(ids.filter((id) => isId("acct", id))));
  }

  /**
   * @param header the Authorization header
   * @throws {AuthenticationRequiredError} no bearer key in it
   * @throws {InvalidApiKeyError} malformed, or a key that was never issued
   * @throws {RevokedApiKeyError} revoked, or expired
   */
  async identify(header: string | undefined): Promise<KeyHolder> {
    const token = header === undefined ? undefined : BEARER.exec(header)?.[1];
    if (token === undefined) {
      // Another scheme carries no API key; `Bearer` with something unreadable behind it carries a wrong one.
      throw /^Bearer +[^ ]/i.test(header ?? "") ? new InvalidApiKeyError() : new AuthenticationRequiredError();
    }
    const hash = this.deps.digest.sha256(token);
    const holder = this.holders.kept(hash) ?? (isWellFormedToken(token) ? await this.holders.get(hash) : undefined);
    if (holder === undefined) throw new InvalidApiKeyError();
    if (holder.key.revokedAt !== null) throw new RevokedApiKeyError();
    // Not a matter of the cache: the moment is known in advance.
    const { expiresAt } = holder.key;
    if (expiresAt !== null && this.deps.clock.now() >= expiresAt)
      throw new RevokedApiKeyError("The API key has expired.");
    this.deps.uses?.note(holder.key);
    return holder;
  }

  /** The account of a request that was authenticated by other means than a key; undefined: there is none. */
  findAccount(id: string): Promise<Account | undefined> {
    return this.accounts.get(id);
  }
}

/** Who sends a request, and what it may do. */
export interface Caller {
  readonly account: Account;
  readonly scopes: readonly Scope[];
}

/**
 * Checks what the caller may do: suspension before terms, terms before scope.
 *
 * @param scope null where any caller will do
 * @throws {AccountSuspendedError}
 * @throws {ApiTermsNotAcceptedError} {@link InsufficientScopeError}
 */
export function authorize({ account, scopes }: Caller, scope: Scope | null): void {
  checkIsOpen(account);
  if (account.termsAcceptedAt === null) throw new ApiTermsNotAcceptedError();
  if (scope !== null && !scopes.includes(scope)) throw new InsufficientScopeError(scope);
}
