import type { Balance, EntryKind, LedgerEntry } from "../../../core/credits/balance.js";
import type { IdempotencyRecord } from "../../../core/idempotency/replay.js";
import type { AccountId, JobId } from "../../../core/ids.js";
import type { ProviderHealth } from "../../../core/providers/circuit-breaker.js";
import type { Table } from "./session.js";

export interface BalanceRow {
  account_id: AccountId;
  monthly: number;
  pack: number;
  reserved_monthly: number;
  reserved_pack: number;
  spent: number;
  running_jobs: number;
  ledger_seq: number;
}

export const BALANCES: Table<BalanceRow> = {
  name: "balances",
  columns: [
    "account_id",
    "monthly",
    "pack",
    "reserved_monthly",
    "reserved_pack",
    "spent",
    "running_jobs",
    "ledger_seq",
  ],
  key: ["account_id"],
};

export function toBalanceRow(balance: Balance): BalanceRow {
  return {
    account_id: balance.accountId,
    monthly: balance.monthly,
    pack: balance.pack,
    reserved_monthly: balance.reservedMonthly,
    reserved_pack: balance.reservedPack,
    spent: balance.spent,
    running_jobs: balance.runningJobs,
    ledger_seq: balance.ledgerSeq,
  };
}

export function toBalance(row: BalanceRow): Balance {
  return {
    accountId: row.account_id,
    monthly: row.monthly,
    pack: row.pack,
    reservedMonthly: row.reserved_monthly,
    reservedPack: row.reserved_pack,
    spent: row.spent,
    runningJobs: row.running_jobs,
    ledgerSeq: row.ledger_seq,
  };
}

export interface LedgerEntryRow {
  account_id: AccountId;
  seq: number;
  kind: EntryKind;
  job_id: JobId | null;
  phase: "open" | "close" | null;
  monthly: number;
  pack: number;
  reserved_monthly: number;
  reserved_pack: number;
  spent: number;
  external_ref: string | null;
  created_at: number;
}

export const LEDGER_ENTRIES: Table<LedgerEntryRow> = {
  name: "ledger_entries",
  columns: [
    "account_id",
    "seq",
    "kind",
    "job_id",
    "phase",
    "monthly",
    "pack",
    "reserved_monthly",
    "reserved_pack",
    "spent",
    "external_ref",
    "created_at",
  ],
  key: ["account_id", "seq"],
};

const PHASES: Readonly<Record<EntryKind, LedgerEntryRow["phase"]>> = {
  grant: null,
  renew: null,
  expire: null,
  reserve: "open",
  charge: "close",
  refund: "close",
};

export function toLedgerEntryRow(entry: LedgerEntry): LedgerEntryRow {
  return {
    account_id: entry.accountId,
    seq: entry.seq,
    kind: entry.kind,
    job_id: entry.jobId,
    phase: PHASES[entry.kind],
    monthly: entry.monthly,
    pack: entry.pack,
    reserved_monthly: entry.reservedMonthly,
    reserved_pack: entry.reservedPack,
    spent: entry.spent,
    external_ref: entry.reference,
    created_at: entry.createdAt,
  };
}

export function toLedgerEntry(row: LedgerEntryRow): LedgerEntry {
  return {
    accountId: row.account_id,
    seq: row.seq,
    kind: row.kind,
    jobId: row.job_id,
    monthly: row.monthly,
    pack: row.pack,
    reservedMonthly: row.reserved_monthly,
    reservedPack: row.reserved_pack,
    spent: row.spent,
    reference: row.external_ref,
    createdAt: row.created_at,
  };
}

export interface IdempotencyRow {
  account_id: AccountId;
  key_hash: string;
  shape_hash: string;
  body_hash: string;
  job_id: JobId;
  status: number;
  response: string;
  created_at: number;
  expires_at: number;
}

export const IDEMPOTENCY_RECORDS: Table<IdempotencyRow> = {
  name: "idempotency_records",
  columns: [
    "account_id",
    "key_hash",
    "shape_hash",
    "body_hash",
    "job_id",
    "status",
    "response",
    "created_at",
    "expires_at",
  ],
  key: ["account_id", "key_hash"],
};

export function toIdempotencyRow(record: IdempotencyRecord): IdempotencyRow {
  return {
    account_id: record.accountId,
    key_hash: record.keyHash,
    shape_hash: record.shape,
    body_hash: record.body,
    job_id: record.jobId,
    status: record.answer.status,
    response: record.answer.body,
    created_at: record.createdAt,
    expires_at: record.expiresAt,
  };
}

export function toIdempotencyRecord(row: IdempotencyRow): IdempotencyRecord {
  return {
    accountId: row.account_id,
    keyHash: row.key_hash,
    shape: row.shape_hash,
    body: row.body_hash,
    jobId: row.job_id,
    answer: { status: row.status, body: row.response },
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  };
}

export interface HealthRow {
  provider_id: string;
  failures: number;
  opened_at: number | null;
  trial_until: number | null;
}

export const PROVIDER_HEALTH: Table<HealthRow> = {
  name: "provider_health",
  columns: ["provider_id", "failures", "opened_at", "trial_until"],
  key: ["provider_id"],
};

export function toHealthRow(health: ProviderHealth): HealthRow {
  return {
    provider_id: health.providerId,
    failures: health.failures,
    opened_at: health.openedAt,
    trial_until: health.trialUntil,
  };
}

export function toHealth(row: HealthRow): ProviderHealth {
  return {
    providerId: row.provider_id,
    failures: row.failures,
    openedAt: row.opened_at,
    trialUntil: row.trial_until,
  };
}

/** JSON as text; some drivers parse it by themselves. */
export function fromJson<T>(value: unknown): T {
  return (typeof value === "string" ? JSON.parse(value) : value) as T;
}

export function toJson(value: object | null): string | null {
  return value === null ? null : JSON.stringify(value);
}
