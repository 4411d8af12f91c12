import type { LedgerAudit } from "../../../../../core/ports/ledger-store.js";
import { startThread } from "../../start-thread.js";
import type { Auditor } from "../ledger-audit.js";
import type { AuditOrder, FromAuditThread } from "./messages.js";

/**
 * Audits an SQLite file in a thread with a connection of its own, since queries there hold up the thread that runs
 * them. The thread only reads: what it has verified is kept by the caller.
 */
export function auditInThread(order: AuditOrder, keep: Auditor["keep"]): Promise<LedgerAudit> {
  return new Promise<LedgerAudit>((resolve, reject) => {
    const thread = startThread(new URL("./thread.js", import.meta.url), { workerData: order, name: "ledger-audit" });
    let audit: LedgerAudit | null = null;
    const fail = (error: Error): void => {
      reject(error);
      void thread.terminate();
    };
    thread.on("message", (message: FromAuditThread) => {
      if (message.kind === "done") audit = message.audit;
      else if (message.kind === "failed") fail(new Error(message.message));
      else keep(message.checkpoints).then(() => thread.postMessage("kept"), fail);
    });
    thread.on("error", fail);
    thread.on("exit", (code) => {
      if (audit !== null) resolve(audit);
      else fail(new Error(`The thread that audits the ledger ended with code ${code}.`));
    });
  });
}
