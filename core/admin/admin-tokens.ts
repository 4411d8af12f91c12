import { BriefCache } from "../accounts/brief-cache.js";
import { isWellFormedToken, makeToken, shownPrefixOf } from "../accounts/api-key.js";
import { checkLength } from "../accounts/checked-text.js";
import { checkedExpiry } from "../accounts/new-key.js";
import type { RecordsActions } from "../audit/audit-trail.js";
import {
  AuthenticationRequiredError,
  InsufficientScopeError,
  InvalidApiKeyError,
  OperationRefusedError,
  RevokedApiKeyError,
  UnknownObjectError,
} from "../errors.js";
import { isId } from "../ids.js";
import type { AdminTokenStore } from "../ports/admin-token-store.js";
import { ADMIN_ROLES, type AdminRole, type AdminToken } from "../ports/admin-token.js";
import type { Clock } from "../ports/clock.js";
import type { Digest } from "../ports/digest.js";
import type { IdGenerator } from "../ports/id-generator.js";
import type { Random } from "../ports/random.js";

/** A token as lists show it: without its hash. */
export type ShownAdminToken = Omit<AdminToken, "tokenHash">;

export interface NewAdminToken {
  /** Who uses it: 1 to 60 characters. */
  readonly name: string;
  /** `read`, `operate` or `owner`. */
  readonly role: string;
  /** In milliseconds since 1970, later than now; without it the token works until it is revoked. */
  readonly expiresAt?: number;
}

/** An operator at the admin API. */
export interface Operator {
  /** As the audit log has it. */
  readonly name: string;
  readonly role: AdminRole;
}

export interface AdminTokensDeps {
  readonly audit: RecordsActions;
  readonly adminTokens: AdminTokenStore;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  readonly random: Random;
  readonly digest: Digest;
  /** A token that the settings give, of an owner; null: there is none. */
  readonly givenToken: string | null;
}

/** What tokens begin with. */
export const ADMIN_TOKEN_PREFIX = "fra_";
const NAME_MAX_LENGTH = 60;
const BEARER = /^Bearer +(\S+) *$/i;
/** Whom the audit log names for the token of the settings. */
const GIVEN_NAME = "admin.token";

/** Tokens of operators for the admin API, and whose a request is. Changes hold within 1 s in every process. */
export class AdminTokens {
  private readonly byHash: BriefCache<AdminToken>;
  private readonly givenHash: string | null;

  constructor(private readonly deps: AdminTokensDeps) {
    const { adminTokens, clock, digest, givenToken } = deps;
    this.byHash = new BriefCache(clock, async (hashes) => {
      const found = await Promise.all(hashes.map((hash) => adminTokens.findAdminToken(hash)));
      return new Map(found.flatMap((token) => (token === null ? [] : [[token.tokenHash, token] as const])));
    });
    this.givenHash = givenToken === null ? null : digest.sha256(givenToken);
  }

  /** @throws {OperationRefusedError} a name, role or expiry that cannot be */
  async issue({
    name,
    role,
    expiresAt,
  }: NewAdminToken): Promise<{ readonly token: string; readonly shown: ShownAdminToken }> {
    const { audit, adminTokens, clock, ids, random, digest } = this.deps;
    checkLength("A token's name", name, NAME_MAX_LENGTH);
    const token = makeToken((count) => random.bytes(count), ADMIN_TOKEN_PREFIX);
    const createdAt = clock.now();
    const created: AdminToken = {
      id: ids.next("adm"),
      name,
      role: checkedRole(role),
      tokenHash: digest.sha256(token),
      shownPrefix: shownPrefixOf(token),
      createdAt,
      expiresAt: checkedExpiry("A token", expiresAt ?? null, createdAt),
      revokedAt: null,
    };
    await audit.inTransaction(
      async (tx, { isRetry }) => {
        if (isRetry && (await adminTokens.findAdminToken(created.tokenHash)) !== null) return;
        await adminTokens.insertAdminToken(tx, created);
      },
      () => ({
        action: "admin_tokens.issue",
        accountId: null,
        targets: [created.id],
        fields: { name, role, expires_at: created.expiresAt },
      }),
    );
    return { token, shown: shownToken(created) };
  }

  /** Newest first, revoked ones included. */
  async list(): Promise<ShownAdminToken[]> {
    return (await this.deps.adminTokens.listAdminTokens()).map(shownToken);
  }

  /** Revoking twice is fine. @throws {UnknownObjectError} no such token */
  async revoke(id: string): Promise<void> {
    const { audit, adminTokens, clock } = this.deps;
    const known = isId("adm", id) ? id : null;
    const revoked =
      known !== null &&
      (await audit.inTransaction(
        (tx) => adminTokens.revokeAdminToken(tx, known, clock.now()),
        (isThere) =>
          isThere ? { action: "admin_tokens.revoke", accountId: null, targets: [known], fields: {} } : null,
      ));
    if (!revoked) throw new UnknownObjectError(`There is no admin token ${id}.`);
  }

  /**
   * Who sends a request.
   *
   * @param header the Authorization header
   * @throws {AuthenticationRequiredError} no bearer token in it
   * @throws {InvalidApiKeyError} a token that was never issued
   * @throws {RevokedApiKeyError} revoked, or expired
   */
  async identify(header: string | undefined): Promise<Operator> {
    const token = BEARER.exec(header ?? "")?.[1];
    if (token === undefined)
      throw new AuthenticationRequiredError("Send an admin token: `Authorization: Bearer <TOKEN>`.");
    const hash = this.deps.digest.sha256(token);
    // Hashes are compared, so that the time it takes says nothing about the token.
    if (hash === this.givenHash) return { name: GIVEN_NAME, role: "owner" };
    const found = isWellFormedToken(token, ADMIN_TOKEN_PREFIX) ? await this.byHash.get(hash) : undefined;
    if (found === undefined) throw new InvalidApiKeyError("The admin token is not valid.");
    if (found.revokedAt !== null) throw new RevokedApiKeyError("The admin token was revoked.");
    if (found.expiresAt !== null && this.deps.clock.now() >= found.expiresAt)
      throw new RevokedApiKeyError("The admin token has expired.");
    return { name: found.name, role: found.role };
  }
}

/** @throws {InsufficientScopeError} the operator's role is not enough */
export function authorizeOperator({ role }: Operator, needed: AdminRole): void {
  if (ADMIN_ROLES.indexOf(role) < ADMIN_ROLES.indexOf(needed))
    throw new InsufficientScopeError(needed, `The admin token has the role ${role}; this needs ${needed}.`);
}

function checkedRole(role: string): AdminRole {
  const known = ADMIN_ROLES.find((one) => one === role);
  if (known === undefined) throw new OperationRefusedError(`Roles are ${ADMIN_ROLES.join(", ")}; got ${role}.`);
  return known;
}

function shownToken({ tokenHash: _tokenHash, ...shown }: AdminToken): ShownAdminToken {
  return shown;
}
