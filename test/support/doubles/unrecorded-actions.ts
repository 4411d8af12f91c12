import type { RecordsActions } from "../../../core/audit/audit-trail.js";
import type { UnitOfWork } from "../../../core/ports/unit-of-work.js";

/** Runs actions without recording them; for tests of other topics. */
export function unrecorded(unitOfWork: Pick<UnitOfWork, "inTransaction">): RecordsActions {
  return {
    inTransaction: (work) => unitOfWork.inTransaction(work),
    alongside: () => () => Promise.resolve(),
    note: () => Promise.resolve(),
  };
}
