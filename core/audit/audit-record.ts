import type { AccountId, AuditRecordId } from "../ids.js";
import type { Digest } from "../ports/digest.js";

/** What operators and embedding apps do that changes something. */
export const AUDIT_ACTIONS = [
  "accounts.create",
  "accounts.accept_terms",
  "accounts.change_tier",
  "accounts.suspend",
  "accounts.resume",
  "keys.issue",
  "keys.revoke",
  "keys.revoke_all",
  "credits.grant",
  "credits.renew",
  "generations.create",
  "jobs.cancel",
  "submissions.pause",
  "submissions.resume",
  "splits.start",
  "library.import",
  "library.upload",
  "library.share",
  "library.unshare",
  "playlists.create",
  "playlists.edit",
  "playlists.delete",
  "audio.collect",
  "webhooks.resend",
  "webhooks.ping",
  "webhooks.rotate_secret",
  "secrets.rotate",
  "secrets.retire",
] as const;

export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** Details of an action in addition to its targets. Never a key, a token or another secret. */
export type AuditFields = Readonly<Record<string, string | number | boolean | null>>;

export interface AuditEntry {
  readonly action: AuditAction;
  /** The account that it is about; null where it is about none, or about all. */
  readonly accountId: AccountId | null;
  /** The ids of what was changed. */
  readonly targets: readonly string[];
  readonly fields: AuditFields;
}

/** One link of the chain. */
export interface AuditRecord extends AuditEntry {
  readonly id: AuditRecordId;
  /** 1, 2, 3 …, without gaps. */
  readonly number: number;
  /** Milliseconds since 1970, by the storage's clock. */
  readonly createdAt: number;
  /** Who did it: the user of the operating system, or the name that the embedding app gave itself. */
  readonly actor: string;
  readonly previousHash: string;
  /** SHA-256 of all other members, 64 hexadecimal digits; see {@link hashOf}. */
  readonly hash: string;
}

/** The end of the chain. */
export interface AuditHead {
  /** 0 while there is no record. */
  readonly number: number;
  readonly hash: string;
}

/** What the first record follows. */
export const EMPTY_CHAIN: AuditHead = { number: 0, hash: "0".repeat(64) };

/** The record that follows `head`. */
export function nextRecord(
  head: AuditHead,
  created: Omit<AuditRecord, "number" | "previousHash" | "hash">,
  digest: Digest,
): AuditRecord {
  const record = { ...created, number: head.number + 1, previousHash: head.hash };
  return { ...record, hash: hashOf(record, digest) };
}

/** The hash over a record's canonical form: a JSON list of its members, those of `fields` in the order of their names. */
export function hashOf(record: Omit<AuditRecord, "hash">, digest: Digest): string {
  const { number, id, createdAt, actor, action, accountId, targets, fields, previousHash } = record;
  const sorted = Object.entries(fields).sort(([one], [other]) => (one < other ? -1 : 1));
  const members = [number, id, createdAt, actor, action, accountId, targets, sorted, previousHash];
  return digest.sha256(JSON.stringify(members));
}
