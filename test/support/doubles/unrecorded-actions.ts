import type { RecordsActions } from "../../../core/audit/audit-trail.js";
import type { UnitOfWork } from "../../../core/ports/unit-of-work.js";

/** Does what it is asked to and writes nothing down; for tests that are about something else. */
export function unrecorded(unitOfWork: Pick<UnitOfWork, "inTransaction">): RecordsActions {
  return {
    inTransaction: (work) => unitOfWork.inTransaction(work),
    alongside: () => () => Promise.resolve(),
    note: () => Promise.resolve(),
  };
}
