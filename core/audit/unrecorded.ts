import type { UnitOfWork } from "../ports/unit-of-work.js";
import type { RecordsActions } from "./audit-trail.js";

/** For what accounts do themselves: the audit log is of operators and embedding apps. */
export function unrecorded(unitOfWork: Pick<UnitOfWork, "inTransaction">): RecordsActions {
  return {
    inTransaction: (work) => unitOfWork.inTransaction(work),
    alongside: () => () => Promise.resolve(),
    note: () => Promise.resolve(),
  };
}
