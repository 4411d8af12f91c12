import type { AuditHead, AuditRecord } from "../../../../core/ports/audit-record.js";
import type { AuditRecordId } from "../../../../core/ids.js";
import type { AuditFilter, AuditLog } from "../../../../core/ports/audit-log.js";
import type { Transaction } from "../../../../core/ports/unit-of-work.js";
import { assert } from "../../../../core/assert.js";
import type { KnexDatabase } from "../database.js";
import { columnsOf, sessionOf, type SqlValue } from "../session.js";
import { type Column, json, plain, type RowOf, table } from "../table.js";

const AUDIT_LOG = table(
  "audit_log",
  {
    number: plain<number>(),
    id: plain<AuditRecordId>(),
    createdAt: plain<number>(),
    actor: plain<string>(),
    action: plain<AuditRecord["action"]>(),
    accountId: plain<AuditRecord["accountId"]>(),
    targets: jsonOr<AuditRecord["targets"]>((unreadable) => [unreadable]),
    fields: jsonOr<AuditRecord["fields"]>((unreadable) => ({ unreadable })),
    previousHash: plain<string>(),
    hash: plain<string>(),
  },
  ["number"],
);
type AuditRow = RowOf<typeof AUDIT_LOG>;

/** What was changed to something that is no JSON is shown as it is: its hash no longer fits. */
function jsonOr<T extends object>(otherwise: (text: string) => T): Column<T, string> {
  const { toSql, fromSql } = json<T>() as Column<T, string>;
  const asStored = (text: string): T => {
    try {
      return fromSql(text);
    } catch {
      return otherwise(text);
    }
  };
  return { name: null, toSql, fromSql: asStored };
}

const COLUMNS = columnsOf(AUDIT_LOG);
const HEAD = "SELECT number, hash FROM {audit_head} WHERE one = 1";
const HAS = "SELECT 1 FROM {audit_log} WHERE id = ?";
const MOVE_HEAD = "UPDATE {audit_head} SET number = ?, hash = ? WHERE one = 1 AND number = ?";
const PAGE = `SELECT ${COLUMNS} FROM {audit_log} WHERE number > ? ORDER BY number LIMIT ?`;

export class KnexAuditLog implements AuditLog {
  constructor(private readonly database: KnexDatabase) {}

  async lockHead(tx: Transaction): Promise<AuditHead> {
    return oneHead(await sessionOf(tx).all<AuditHead>(HEAD + this.database.dialect.forUpdate));
  }

  async has(tx: Transaction, id: AuditRecordId): Promise<boolean> {
    return (await sessionOf(tx).all(HAS, [id])).length > 0;
  }

  async append(tx: Transaction, record: AuditRecord): Promise<void> {
    const session = sessionOf(tx);
    await session.insert(AUDIT_LOG, [AUDIT_LOG.toRow(record)]);
    const moved = await session.run(MOVE_HEAD, [record.number, record.hash, record.number - 1]);
    assert(moved === 1, "a record follows the end of the chain that was locked");
  }

  async findHead(): Promise<AuditHead> {
    return oneHead(await this.database.reading((session) => session.all<AuditHead>(HEAD)));
  }

  async list({ since, accountId, action, before, limit }: AuditFilter): Promise<AuditRecord[]> {
    const conditions: readonly (readonly [text: string, value: SqlValue | undefined])[] = [
      ["created_at >= ?", since],
      ["account_id = ?", accountId],
      ["action = ?", action],
      ["number < ?", before],
    ];
    const given = conditions.filter((one): one is readonly [string, SqlValue] => one[1] !== undefined);
    const where = given.length === 0 ? "" : ` WHERE ${given.map(([text]) => text).join(" AND ")}`;
    const query = `SELECT ${COLUMNS} FROM {audit_log}${where} ORDER BY number DESC LIMIT ?`;
    const values = [...given.map(([, value]) => value), limit];
    return (await this.database.reading((session) => session.all<AuditRow>(query, values))).map(AUDIT_LOG.fromRow);
  }

  async page(number: number, limit: number): Promise<AuditRecord[]> {
    const rows = await this.database.reading((session) => session.all<AuditRow>(PAGE, [number, limit]));
    return rows.map(AUDIT_LOG.fromRow);
  }
}

function oneHead([head]: readonly AuditHead[]): AuditHead {
  assert(head !== undefined, "the migration made the row of the chain's end");
  return { number: head.number, hash: head.hash };
}
