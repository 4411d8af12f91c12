import type { AccountId, AuditRecordId } from "../ids.js";

/** The actions of operators and embedding apps that change something. */
export const AUDIT_ACTIONS = [
  "accounts.create",
  "accounts.accept_terms",
  "accounts.change_tier",
  "accounts.suspend",
  "accounts.resume",
  "accounts.delete",
  "accounts.export",
  "keys.issue",
  "keys.revoke",
  "keys.revoke_all",
  "studio.link",
  "credits.grant",
  "credits.renew",
  "ledger.archive",
  "ledger.restore",
  "generations.create",
  "jobs.cancel",
  "jobs.retry",
  "submissions.pause",
  "submissions.resume",
  "splits.start",
  "library.import",
  "library.upload",
  "library.share",
  "library.unshare",
  "library.delete",
  "playlists.create",
  "playlists.edit",
  "playlists.delete",
  "audio.collect",
  "webhooks.resend",
  "webhooks.ping",
  "webhooks.rotate_secret",
  "secrets.rotate",
  "secrets.retire",
  "admin_tokens.issue",
  "admin_tokens.revoke",
] as const;

export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** Details of an action beyond its targets. Never a key, a token or another secret. */
export type AuditFields = Readonly<Record<string, string | number | boolean | null>>;

export interface AuditEntry {
  readonly action: AuditAction;
  /** The account that it is about; null where it is about none, or about all. */
  readonly accountId: AccountId | null;
  /** The ids of the changed objects. */
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
  /** SHA-256 of all other members, 64 hexadecimal digits. */
  readonly hash: string;
}

/** The end of the chain. */
export interface AuditHead {
  /** 0 while there is no record. */
  readonly number: number;
  readonly hash: string;
}
