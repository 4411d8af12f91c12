import type { AuditLog } from "../ports/audit-log.js";
import type { Clock } from "../ports/clock.js";
import type { Digest } from "../ports/digest.js";
import type { IdGenerator } from "../ports/id-generator.js";
import type { HostTransaction, Transaction, TransactionWork, UnitOfWork } from "../ports/unit-of-work.js";
import { joinTransaction } from "../transactions.js";
import type { AuditRecordId } from "../ids.js";
import { nextRecord } from "./audit-record.js";
import type { AuditEntry } from "../ports/audit-record.js";

/** Written last in a transaction, of what it has come to. When it fails, nothing of the transaction is written. */
export type Alongside<T> = (tx: Transaction, result: T) => Promise<void>;

/** Writes down what operators and embedding apps do. */
export interface RecordsActions {
  /**
   * Runs `work` in one transaction, as a unit of work does, and records in the same one what it did: either both are
   * written or none.
   *
   * @param describe null where `work` changed nothing
   * @param transaction of an embedding app, which commits both with what it wrote itself, or nothing
   */
  inTransaction<T>(
    work: TransactionWork<T>,
    describe: (result: T) => AuditEntry | null,
    transaction?: HostTransaction,
  ): Promise<T>;
  /**
   * The record of an action whose transaction another begins, and may run again.
   *
   * @param describe null where the action changed nothing
   */
  alongside<T>(describe: (result: T) => AuditEntry | null): Alongside<T>;
  /** Records in a transaction of its own what no transaction can hold, such as deleting files: before it is done. */
  note(entry: AuditEntry): Promise<void>;
}

export interface AuditTrailDeps {
  readonly auditLog: AuditLog;
  readonly unitOfWork: UnitOfWork;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  readonly digest: Digest;
  /** Who acts now, asked when an action begins. */
  readonly actor: () => Actor;
}

/** Who does something, and why. */
export interface Actor {
  /** 1 to 100 characters. */
  readonly name: string;
  /** In the operator's own words; null when none were given. */
  readonly why: string | null;
}

export class AuditTrail implements RecordsActions {
  constructor(private readonly deps: AuditTrailDeps) {}

  inTransaction<T>(
    work: TransactionWork<T>,
    describe: (result: T) => AuditEntry | null,
    transaction?: HostTransaction,
  ): Promise<T> {
    const { ids, unitOfWork, actor } = this.deps;
    const by = { id: ids.next("aud"), actor: actor() };
    const recorded: TransactionWork<T> = async (tx, run) => {
      const result = await work(tx, run);
      const entry = describe(result);
      if (entry !== null) await this.append(tx, by, entry, run.isRetry);
      return result;
    };
    return transaction === undefined
      ? unitOfWork.inTransaction(recorded)
      : joinTransaction(unitOfWork, transaction, recorded);
  }

  alongside<T>(describe: (result: T) => AuditEntry | null): Alongside<T> {
    const by = { id: this.deps.ids.next("aud"), actor: this.deps.actor() };
    return async (tx, result) => {
      const entry = describe(result);
      if (entry !== null) await this.append(tx, by, entry, true);
    };
  }

  async note(entry: AuditEntry): Promise<void> {
    await this.inTransaction(
      () => Promise.resolve(),
      () => entry,
    );
  }

  /**
   * The last thing that a transaction does: all others that record wait for its end.
   *
   * @param mayExist an earlier run may have been committed, and this very record with it
   */
  private async append(
    tx: Transaction,
    { id, actor: { name: actor, why } }: { readonly id: AuditRecordId; readonly actor: Actor },
    entry: AuditEntry,
    mayExist: boolean,
  ): Promise<void> {
    const { auditLog, clock, digest } = this.deps;
    const head = await auditLog.lockHead(tx);
    if (mayExist && (await auditLog.has(tx, id))) return;
    const fields = why === null ? entry.fields : { ...entry.fields, why };
    await auditLog.append(tx, nextRecord(head, { ...entry, fields, id, actor, createdAt: clock.now() }, digest));
  }
}
