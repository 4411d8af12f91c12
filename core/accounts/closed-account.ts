import { AccountSuspendedError } from "../errors.js";
import type { Account } from "../ports/account.js";

/** @throws {AccountSuspendedError} it is suspended or deleted: nothing new is done for it */
export function checkIsOpen({ suspendedAt, deletedAt }: Pick<Account, "suspendedAt" | "deletedAt">): void {
  if (suspendedAt !== null || deletedAt !== null) throw new AccountSuspendedError();
}
