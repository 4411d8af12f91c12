import type { AuditFilter, AuditLog } from "../ports/audit-log.js";
import type { Digest } from "../ports/digest.js";
import { OperationRefusedError } from "../errors.js";
import { EMPTY_CHAIN, hashOf } from "./audit-record.js";
import type { AuditHead, AuditRecord } from "../ports/audit-record.js";

/** Read at once while the chain is verified. */
const PAGE = 500;

const HASH = /^[0-9a-f]{64}$/;

/** What the chain was found to be. */
export interface AuditVerification {
  /** Records that follow each other without a break, from the first on. */
  readonly count: number;
  /** The hash of the last of them; to be kept elsewhere, and given to the next verification. */
  readonly head: string;
  /** The first thing that is wrong; null when nothing is. */
  readonly broken: { readonly number: number; readonly problem: string } | null;
}

export interface ReadAuditDeps {
  readonly auditLog: AuditLog;
  readonly digest: Digest;
}

/** The audit log as operators read it. */
export class ReadAudit {
  constructor(private readonly deps: ReadAuditDeps) {}

  /** Newest first. */
  list(filter: AuditFilter): Promise<AuditRecord[]> {
    return this.deps.auditLog.list(filter);
  }

  /**
   * Follows the chain from its first record to its end. Records that were changed, left out or added are found by the
   * hashes. That the newest ones were taken away, with all that knows of them, is found by `expectedHead` alone.
   *
   * @param expectedHead the head of an earlier verification, which must still be in the chain
   * @throws {OperationRefusedError} `expectedHead` is no hash
   */
  async verify(expectedHead?: string): Promise<AuditVerification> {
    if (expectedHead !== undefined && !HASH.test(expectedHead)) {
      throw new OperationRefusedError("A head is a hash of 64 hexadecimal digits, as `audit verify` prints it.");
    }
    const stored = await this.deps.auditLog.findHead();
    let head = EMPTY_CHAIN;
    let isExpectedFound = expectedHead === undefined || expectedHead === head.hash;
    const broken = (number: number, problem: string): AuditVerification => ({
      count: head.number,
      head: head.hash,
      broken: { number, problem },
    });
    for (;;) {
      const records = await this.deps.auditLog.page(head.number, PAGE);
      for (const record of records) {
        const problem = this.problemOf(record, head);
        if (problem !== null) return broken(record.number, problem);
        head = record;
        isExpectedFound ||= record.hash === expectedHead;
      }
      if (records.length < PAGE) break;
    }
    // Others may have appended since.
    if (head.number < stored.number) return broken(head.number + 1, `missing: the chain had ${stored.number} records`);
    if (!isExpectedFound) return broken(head.number + 1, "missing: the given head is not in the chain");
    return { count: head.number, head: head.hash, broken: null };
  }

  private problemOf(record: AuditRecord, { number, hash }: AuditHead): string | null {
    if (record.number !== number + 1) return `missing before it: record ${number + 1}`;
    if (record.previousHash !== hash) return "it does not follow the record before it";
    return hashOf(record, this.deps.digest) === record.hash ? null : "its members do not give its hash: it was changed";
  }
}
