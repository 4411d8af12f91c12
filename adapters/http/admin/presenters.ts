import type { ShownAdminToken } from "../../../core/admin/admin-tokens.js";
import type { ShownKey } from "../../../core/accounts/shown-key.js";
import type { Balance, LedgerEntry } from "../../../core/credits/balance.js";
import { available } from "../../../core/credits/balance.js";
import type { AuditRecord } from "../../../core/ports/audit-record.js";
import type { AccountDeletion } from "../../../core/ports/erasure-store.js";
import type { Account } from "../../../core/ports/account.js";
import { timestamp } from "../presenters/time.js";

/** null stays null. */
export function moment(time: number | null): string | null {
  return time === null ? null : timestamp(time);
}

export interface AdminAccount {
  id: string;
  /** The user that an app around Fermata made it for. */
  external_id: string | null;
  name: string;
  tier: string;
  email_verified: boolean;
  /** @format date-time */
  terms_accepted_at: string | null;
  /** @format date-time */
  suspended_at: string | null;
  suspended_reason: string | null;
  /** @format date-time */
  deleted_at: string | null;
  /** @format date-time */
  created_at: string;
}

export function presentAccount(account: Account): AdminAccount {
  return {
    id: account.id,
    external_id: account.externalId,
    name: account.name,
    tier: account.tier,
    email_verified: account.emailVerified,
    terms_accepted_at: moment(account.termsAcceptedAt),
    suspended_at: moment(account.suspendedAt),
    suspended_reason: account.suspendedReason,
    deleted_at: moment(account.deletedAt),
    created_at: timestamp(account.createdAt),
  };
}

/** How far the deletion of an account is. */
export interface AdminDeletion {
  /** @format date-time */
  requested_at: string;
  /**
   * When nothing was left of it but the ledger; null until then.
   * @format date-time
   */
  erased_at: string | null;
  /** How much of each kind was erased so far. */
  erased: { [kind: string]: number };
}

export function presentDeletion(deletion: AccountDeletion): AdminDeletion {
  return {
    requested_at: timestamp(deletion.requestedAt),
    erased_at: moment(deletion.erasedAt),
    erased: { ...deletion.erased },
  };
}

export interface AdminKey {
  id: string;
  name: string | null;
  /** The first characters of the key. */
  prefix: string;
  scopes: string[];
  state: "active" | "revoked" | "expired";
  /** @format date-time */
  created_at: string;
  /** @format date-time */
  revoked_at: string | null;
  /** @format date-time */
  expires_at: string | null;
  /**
   * Of its last use, or up to a minute before; null: it was never used, or not since this is known.
   * @format date-time
   */
  last_used_at: string | null;
}

export function presentKey(key: ShownKey, now: number): AdminKey {
  return {
    id: key.id,
    name: key.name,
    prefix: key.shownPrefix,
    scopes: [...key.scopes],
    state: stateOf(key, now),
    created_at: timestamp(key.createdAt),
    revoked_at: moment(key.revokedAt),
    expires_at: moment(key.expiresAt),
    last_used_at: moment(key.lastUsedAt),
  };
}

function stateOf({ revokedAt, expiresAt }: Pick<ShownKey, "revokedAt" | "expiresAt">, now: number): AdminKey["state"] {
  if (revokedAt !== null) return "revoked";
  return expiresAt !== null && now >= expiresAt ? "expired" : "active";
}

export interface AdminToken {
  id: string;
  name: string;
  role: "read" | "operate" | "owner";
  /** The first characters of the token. */
  prefix: string;
  state: "active" | "revoked" | "expired";
  /** @format date-time */
  created_at: string;
  /** @format date-time */
  revoked_at: string | null;
  /** @format date-time */
  expires_at: string | null;
}

export function presentToken(token: ShownAdminToken, now: number): AdminToken {
  return {
    id: token.id,
    name: token.name,
    role: token.role,
    prefix: token.shownPrefix,
    state: stateOf(token, now),
    created_at: timestamp(token.createdAt),
    revoked_at: moment(token.revokedAt),
    expires_at: moment(token.expiresAt),
  };
}

/** Whole credits. */
export interface AdminBalance {
  /** @isInt */
  available: number;
  /** @isInt */
  monthly: number;
  /** @isInt */
  pack: number;
  /**
   * By jobs that have not ended.
   * @isInt
   */
  reserved: number;
  /** @isInt */
  spent: number;
  /**
   * Jobs queued or processing.
   * @isInt
   */
  running_jobs: number;
}

export function presentBalance(balance: Balance): AdminBalance {
  return {
    available: available(balance),
    monthly: balance.monthly,
    pack: balance.pack,
    reserved: balance.reservedMonthly + balance.reservedPack,
    spent: balance.spent,
    running_jobs: balance.runningJobs,
  };
}

/** One movement of credits; amounts are changes and may be negative. */
export interface AdminLedgerEntry {
  /**
   * Counts from 1 without gaps; 0 is an opening.
   * @isInt
   */
  number: number;
  /** `opening`: the sum of the older movements, which are archived. It is the last of the list. */
  kind: "opening" | "grant" | "renew" | "expire" | "reserve" | "charge" | "refund";
  job_id: string | null;
  /** @isInt */
  monthly: number;
  /** @isInt */
  pack: number;
  /** @isInt */
  reserved: number;
  /** @isInt */
  spent: number;
  reference: string | null;
  /** @format date-time */
  created_at: string;
}

export function presentEntry(entry: LedgerEntry): AdminLedgerEntry {
  return {
    number: entry.seq,
    kind: entry.kind,
    job_id: entry.jobId,
    monthly: entry.monthly,
    pack: entry.pack,
    reserved: entry.reservedMonthly + entry.reservedPack,
    spent: entry.spent,
    reference: entry.reference,
    created_at: timestamp(entry.createdAt),
  };
}

export interface AdminAuditRecord {
  id: string;
  /** @isInt */
  number: number;
  actor: string;
  action: string;
  account: string | null;
  targets: string[];
  fields: { [name: string]: string | number | boolean | null };
  /** @format date-time */
  created_at: string;
}

export function presentAuditRecord(record: AuditRecord): AdminAuditRecord {
  return {
    id: record.id,
    number: record.number,
    actor: record.actor,
    action: record.action,
    account: record.accountId,
    targets: [...record.targets],
    fields: { ...record.fields },
    created_at: timestamp(record.createdAt),
  };
}
