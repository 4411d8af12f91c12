import { OperationRefusedError } from "./errors.js";
import type { HostTransaction, TransactionWork, UnitOfWork } from "./ports/unit-of-work.js";

/**
 * Runs `work` inside a transaction of the embedding app. @see UnitOfWork.join
 *
 * @throws {OperationRefusedError} the storage joins no transactions, or not this one
 * @throws {TransactionLostError} {@link ServiceUnavailableError}
 */
export function joinTransaction<T>(
  unitOfWork: UnitOfWork,
  transaction: HostTransaction,
  work: TransactionWork<T>,
  committed: (result: T) => void = () => undefined,
): Promise<T> {
  if (unitOfWork.join === undefined)
    throw new OperationRefusedError("This storage cannot join a transaction of the app's own.");
  return unitOfWork.join(transaction, work, committed);
}
