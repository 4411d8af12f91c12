/**
 * Ids are a prefix and a ULID in lower case, compared byte by byte, opaque to callers, at most 40 characters.
 *
 * @see decisions, "Values, units, shapes"
 */
export type AccountId = `acct_${string}`;
export type ApiKeyId = `key_${string}`;
export type JobId = `job_${string}`;
export type TrackId = `trk_${string}`;
export type PlaylistId = `pls_${string}`;
export type RequestId = `req_${string}`;
/** One attempt of a job at a provider. */
export type AttemptId = `att_${string}`;
export type WebhookEndpointId = `whe_${string}`;
export type WebhookEventId = `evt_${string}`;
export type WebhookDeliveryId = `dlv_${string}`;
/** What a provider reported about a job. */
export type CallbackId = `cbk_${string}`;
/** One running process, as the owner of leases. */
export type ProcessId = `prc_${string}`;
export type ReportId = `rpt_${string}`;
/** An operator's token for the admin API. */
export type AdminTokenId = `adm_${string}`;
/** A record of the audit log. */
export type AuditRecordId = `aud_${string}`;

export interface IdByPrefix {
  acct: AccountId;
  key: ApiKeyId;
  job: JobId;
  trk: TrackId;
  pls: PlaylistId;
  req: RequestId;
  att: AttemptId;
  whe: WebhookEndpointId;
  evt: WebhookEventId;
  dlv: WebhookDeliveryId;
  cbk: CallbackId;
  prc: ProcessId;
  rpt: ReportId;
  aud: AuditRecordId;
  adm: AdminTokenId;
}

export type IdPrefix = keyof IdByPrefix;

const ULID_DIGITS = "0123456789abcdefghjkmnpqrstvwxyz";
const ULID = /^[0-9a-hjkmnp-tv-z]{26}$/;

/** True when `value` has the form of an id with this prefix. */
export function isId<P extends IdPrefix>(prefix: P, value: string): value is IdByPrefix[P] {
  return value.startsWith(`${prefix}_`) && ULID.test(value.slice(prefix.length + 1));
}

/** The first of all ids that are created at this moment or later. */
export function firstIdAt<P extends IdPrefix>(prefix: P, time: number): IdByPrefix[P] {
  const digits = Array.from({ length: 10 }, (_, index) => ULID_DIGITS[Math.floor(time / 32 ** (9 - index)) % 32]);
  return `${prefix}_${digits.join("")}${"0".repeat(16)}` as IdByPrefix[P];
}

/** When an id was created, by the clock of the process that created it: its ULID begins with 48 bits of time. */
export function createdAtOf(id: IdByPrefix[IdPrefix]): number {
  const digits = id.slice(id.indexOf("_") + 1).slice(0, 10);
  return [...digits].reduce((time, digit) => time * 32 + ULID_DIGITS.indexOf(digit), 0);
}
