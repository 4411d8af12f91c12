import { OperationRefusedError } from "../errors.js";
import type { AccountId } from "../ids.js";
import type { ApiKey } from "../ports/account.js";
import type { Clock } from "../ports/clock.js";
import type { Digest } from "../ports/digest.js";
import type { IdGenerator } from "../ports/id-generator.js";
import type { Random } from "../ports/random.js";
import { isScope, type Scope, SCOPES } from "../ports/scopes.js";
import { makeToken, shownPrefixOf } from "./api-key.js";
import { checkedName } from "./checked-text.js";

export interface NewKey {
  /** All by default. */
  readonly scopes?: readonly string[];
  /** A label for lists, 1 to 100 characters. */
  readonly name?: string;
  /** In milliseconds since 1970, later than now; without it the key works until it is revoked. */
  readonly expiresAt?: number;
}

export interface NewKeyDeps {
  readonly clock: Clock;
  readonly ids: IdGenerator;
  readonly random: Random;
  readonly digest: Digest;
}

/** The last moment that a Date can be. */
const MOMENT_MAX = 8.64e15;

/**
 * A key that is not stored yet, with its token, which is stored nowhere.
 *
 * @throws {OperationRefusedError} no such scope, a name that cannot be, or an expiry that is not in the future
 */
export function newKey(accountId: AccountId, wanted: NewKey, deps: NewKeyDeps): { key: ApiKey; token: string } {
  const createdAt = deps.clock.now();
  const expiresAt = checkedExpiry("A key", wanted.expiresAt ?? null, createdAt);
  const scopes = checkedScopes(wanted.scopes ?? SCOPES);
  const name = wanted.name === undefined ? null : checkedName("A key's name", wanted.name);
  const token = makeToken((count) => deps.random.bytes(count));
  const key: ApiKey = {
    id: deps.ids.next("key"),
    accountId,
    name,
    tokenHash: deps.digest.sha256(token),
    shownPrefix: shownPrefixOf(token),
    scopes,
    createdAt,
    revokedAt: null,
    expiresAt,
    lastUsedAt: null,
  };
  return { key, token };
}

/** @throws {OperationRefusedError} a moment that is not in the future */
export function checkedExpiry(what: string, expiresAt: number | null, now: number): number | null {
  if (expiresAt === null) return null;
  if (Number.isSafeInteger(expiresAt) && expiresAt > now && expiresAt <= MOMENT_MAX) return expiresAt;
  throw new OperationRefusedError(`${what} expires at a moment in the future, given in whole milliseconds since 1970.`);
}

function checkedScopes(scopes: readonly string[]): Scope[] {
  const unknown = scopes.filter((scope) => !isScope(scope));
  if (unknown.length > 0 || scopes.length === 0) {
    const given = unknown.length > 0 ? unknown.join(", ") : "none";
    throw new OperationRefusedError(`Scopes are ${SCOPES.join(", ")}; got ${given}.`);
  }
  return [...new Set(scopes.filter(isScope))];
}
