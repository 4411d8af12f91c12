import type { AccountId } from "../ids.js";
import type { AuditAction, AuditEntry, AuditFields } from "../ports/audit-record.js";

/** The record of a change of an account. @param targets the account by default */
export function entryOf(
  action: AuditAction,
  accountId: AccountId | null,
  fields: AuditFields = {},
  targets: readonly string[] = accountId === null ? [] : [accountId],
): AuditEntry {
  return { action, accountId, targets, fields };
}
