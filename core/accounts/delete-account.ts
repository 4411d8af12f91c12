import type { RecordsActions } from "../audit/audit-trail.js";
import type { AccountId } from "../ids.js";
import type { AccountStore } from "../ports/account-store.js";
import type { Clock } from "../ports/clock.js";
import type { ErasureStore } from "../ports/erasure-store.js";
import { entryOf } from "./account-entry.js";
import { FIRST_PLACE } from "./erase-accounts.js";

interface DeleteAccountDeps {
  readonly audit: Pick<RecordsActions, "inTransaction">;
  readonly accounts: Pick<AccountStore, "updateAccount" | "revokeKeys">;
  readonly erasures: Pick<ErasureStore, "insertDeletion" | "isDeleted">;
  readonly clock: Pick<Clock, "now">;
}

/** No account is found by it. */
const DELETED_NAME = "(deleted)";

/** Deletes an account, whose erasure is then due; one that is deleted already stays as it is. */
export async function deleteAccount(
  { audit, accounts, erasures, clock }: DeleteAccountDeps,
  accountId: AccountId,
): Promise<void> {
  await audit.inTransaction(
    async (tx) => {
      if (await erasures.isDeleted(tx, accountId)) return null;
      const now = clock.now();
      const deletion = { accountId, requestedAt: now, erasedAt: null, erased: {} };
      await erasures.insertDeletion(tx, { ...deletion, place: FIRST_PLACE, dueAt: now });
      await accounts.updateAccount(tx, accountId, {
        externalId: null,
        name: DELETED_NAME,
        emailVerified: false,
        termsAcceptedAt: null,
        suspendedAt: now,
        suspendedReason: null,
        deletedAt: now,
      });
      return { revoked: await accounts.revokeKeys(tx, accountId, now) };
    },
    (deleted) => (deleted === null ? null : entryOf("accounts.delete", accountId, { keys: deleted.revoked })),
  );
}
