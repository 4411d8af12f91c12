import type { RecordsActions } from "../audit/audit-trail.js";
import { grant } from "../credits/grant.js";
import { OperationRefusedError } from "../errors.js";
import type { Account } from "../ports/account.js";
import type { AccountStore } from "../ports/account-store.js";
import type { LedgerStore } from "../ports/ledger-store.js";
import type { TransactionWork } from "../ports/unit-of-work.js";
import { entryOf } from "./account-entry.js";

interface InsertAccountDeps {
  readonly audit: Pick<RecordsActions, "inTransaction">;
  readonly accounts: Pick<AccountStore, "findByExternalIds" | "findAccounts" | "insertAccounts">;
  readonly ledger: Pick<LedgerStore, "lockBalances" | "apply">;
}

/**
 * @param credits granted to the monthly bucket
 * @returns the account, or the one that had its external id before; then nothing was written
 */
export function insertAccount(
  { audit, accounts, ledger }: InsertAccountDeps,
  account: Account,
  credits: number,
): Promise<Account> {
  const { id, externalId, tier, createdAt } = account;
  const create: TransactionWork<Account> = async (tx, { isRetry }) => {
    // Two that create one external id at once: the storage refuses the second insert, and this runs again.
    const earlier =
      externalId !== null
        ? (await accounts.findByExternalIds([externalId])).get(externalId)
        : isRetry
          ? (await accounts.findAccounts([id])).get(id)
          : undefined;
    if (earlier !== undefined) return earlier;
    await accounts.insertAccounts(tx, [account]);
    if (credits === 0) return account;
    const balance = (await ledger.lockBalances(tx, [id])).get(id);
    if (balance === undefined) throw new OperationRefusedError(`The account ${id} has no balance.`);
    await ledger.apply(tx, [grant(balance, credits, "monthly", null, createdAt)]);
    return account;
  };
  // The log is kept for ever, whatever becomes of the account: it has no name of a person.
  const fields = { tier, terms_accepted: account.termsAcceptedAt !== null, credits };
  return audit.inTransaction(create, (stored) => (stored.id === id ? entryOf("accounts.create", id, fields) : null));
}
