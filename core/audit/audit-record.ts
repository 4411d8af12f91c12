import type { AuditHead, AuditRecord } from "../ports/audit-record.js";
import type { Digest } from "../ports/digest.js";

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

/**
 * The hash over a record's canonical form: a JSON list of its members, those of `fields` in the order of their names.
 */
export function hashOf(record: Omit<AuditRecord, "hash">, digest: Digest): string {
  const { number, id, createdAt, actor, action, accountId, targets, fields, previousHash } = record;
  const sorted = Object.entries(fields).sort(([one], [other]) => (one < other ? -1 : 1));
  const members = [number, id, createdAt, actor, action, accountId, targets, sorted, previousHash];
  return digest.sha256(JSON.stringify(members));
}
