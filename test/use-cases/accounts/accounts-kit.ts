import type { ManageAccounts } from "../../../core/accounts/manage-accounts.js";
import { OperationRefusedError } from "../../../core/errors.js";
import type { AuditRecord } from "../../../core/ports/audit-record.js";
import { OPTIONS } from "../../support/core-options.js";
import { FaultyPort } from "../../support/doubles/faulty-port.js";
import { type MemoryCore, memoryCore } from "../../support/memory-core.js";

const tiers = ["free", "pro"].map((name) => ({ ...OPTIONS.tiers[0], name })) as (typeof OPTIONS)["tiers"];

/** A core with the tiers `free` and `pro`, whose accounts a test manages. */
export interface AccountsKit {
  readonly memory: MemoryCore;
  readonly accounts: ManageAccounts;
  /** The newest of the audit trail, the newest first. */
  records(): Promise<AuditRecord[]>;
  newest(): Promise<AuditRecord | undefined>;
}

/** @param isTwice its transactions run twice, as after a reply to a commit that was lost */
export async function accountsKit({ isTwice = false } = {}): Promise<AccountsKit> {
  const memory = await memoryCore({
    options: { tiers },
    ports: ({ unitOfWork }) => ({
      unitOfWork: isTwice
        ? new FaultyPort(unitOfWork).on("inTransaction", async (run, work) => {
            await run(work);
            return run((tx) => work(tx, { isRetry: true }));
          })
        : unitOfWork,
    }),
  });
  const records = (): Promise<AuditRecord[]> => memory.storage.auditLog.list({ limit: 20 });
  return { memory, accounts: memory.core.accounts, records, newest: async () => (await records())[0] };
}

/** @returns why the work was refused; `done`: it was not */
export function refused(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => "done",
    (error: unknown) => (OperationRefusedError.is(error) ? (error as Error).message : String(error)),
  );
}
