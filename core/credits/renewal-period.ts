import { OperationRefusedError } from "../errors.js";
import type { AccountId } from "../ids.js";

const MONTH = /^\d{4}-(0[1-9]|1[0-2])$/;

/** References of renewals begin with it, those of grants do not. */
const RENEWAL_PREFIX = "renew:";

/** The month of this moment in UTC, written `2026-11`. */
export function periodOf(now: number): string {
  return new Date(now).toISOString().slice(0, "2026-11".length);
}

export function isPeriod(text: string): boolean {
  return MONTH.test(text);
}

/** @throws {OperationRefusedError} not a month */
export function checkPeriod(period: string): string {
  if (!isPeriod(period)) throw new OperationRefusedError(`A period is a month, such as 2026-11; got ${period}.`);
  return period;
}

/** The ledger reference of the renewal of this account and period; it is unique, so that a period is renewed once. */
export function renewalReference(accountId: AccountId, period: string): string {
  return `${RENEWAL_PREFIX}${accountId}:${period}`;
}

/** Whether no new grant may have this reference. */
export function isKeptForRenewals(reference: string): boolean {
  return reference.startsWith(RENEWAL_PREFIX);
}
