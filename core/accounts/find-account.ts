import { OperationRefusedError } from "../errors.js";
import { isId } from "../ids.js";
import type { Account } from "../ports/account.js";
import type { AccountStore } from "../ports/account-store.js";

/** More of one name are not listed. */
const SHOWN_MAX = 10;

/**
 * The account that an operator means: by its id, else by its name, letter by letter. What has the form of an id is
 * never a name.
 *
 * @throws {OperationRefusedError} no such account, or several of this name; then with their ids
 */
export async function findAccount(accounts: AccountStore, given: string): Promise<Account> {
  const found = isId("acct", given)
    ? [...(await accounts.findAccounts([given])).values()]
    : (await accounts.listAccounts({ name: given, limit: SHOWN_MAX + 1 })).filter(({ name }) => name === given);
  const [account, ...others] = found;
  if (account === undefined) throw new OperationRefusedError(`There is no account ${given}.`);
  if (others.length === 0) return account;
  const ids = found.slice(0, SHOWN_MAX).map(({ id }) => id);
  const more = found.length > SHOWN_MAX ? " and more" : "";
  throw new OperationRefusedError(`Several accounts are named ${given}: ${ids.join(", ")}${more}. Name one by its id.`);
}
