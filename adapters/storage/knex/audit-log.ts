import type { AuditHead, AuditRecord } from "../../../core/audit/audit-record.js";
import type { AuditRecordId } from "../../../core/ids.js";
import type { AuditFilter, AuditLog } from "../../../core/ports/audit-log.js";
import type { Transaction } from "../../../core/ports/unit-of-work.js";
import { assert } from "../../../core/assert.js";
import type { KnexDatabase } from "./database.js";
import { fromJson } from "./rows.js";
import { columnsOf, sessionOf, type SqlValue, type Table } from "./session.js";

interface AuditRow {
  readonly number: number;
  readonly id: AuditRecordId;
  readonly created_at: number;
  readonly actor: string;
  readonly action: AuditRecord["action"];
  readonly account_id: AuditRecord["accountId"];
  readonly targets: string;
  readonly fields: string;
  readonly previous_hash: string;
  readonly hash: string;
}

const AUDIT_LOG: Table<AuditRow> = {
  name: "audit_log",
  columns: [
    "number",
    "id",
    "created_at",
    "actor",
    "action",
    "account_id",
    "targets",
    "fields",
    "previous_hash",
    "hash",
  ],
  key: ["number"],
};

const COLUMNS = columnsOf(AUDIT_LOG);
const HEAD = "SELECT number, hash FROM audit_head WHERE one = 1";
const HAS = "SELECT 1 FROM audit_log WHERE id = ?";
const MOVE_HEAD = "UPDATE audit_head SET number = ?, hash = ? WHERE one = 1 AND number = ?";
const PAGE = `SELECT ${COLUMNS} FROM audit_log WHERE number > ? ORDER BY number LIMIT ?`;

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
    await session.insert(AUDIT_LOG, [toRow(record)]);
    const moved = await session.run(MOVE_HEAD, [record.number, record.hash, record.number - 1]);
    assert(moved === 1, "a record follows the end of the chain that was locked");
  }

  async findHead(): Promise<AuditHead> {
    return oneHead(await this.database.reading((session) => session.all<AuditHead>(HEAD)));
  }

  async list({ since, accountId, action, limit }: AuditFilter): Promise<AuditRecord[]> {
    const conditions: readonly (readonly [text: string, value: SqlValue | undefined])[] = [
      ["created_at >= ?", since],
      ["account_id = ?", accountId],
      ["action = ?", action],
    ];
    const given = conditions.filter((one): one is readonly [string, SqlValue] => one[1] !== undefined);
    const where = given.length === 0 ? "" : ` WHERE ${given.map(([text]) => text).join(" AND ")}`;
    const query = `SELECT ${COLUMNS} FROM audit_log${where} ORDER BY number DESC LIMIT ?`;
    const values = [...given.map(([, value]) => value), limit];
    return (await this.database.reading((session) => session.all<AuditRow>(query, values))).map(toRecord);
  }

  async page(number: number, limit: number): Promise<AuditRecord[]> {
    const rows = await this.database.reading((session) => session.all<AuditRow>(PAGE, [number, limit]));
    return rows.map(toRecord);
  }
}

function oneHead([head]: readonly AuditHead[]): AuditHead {
  assert(head !== undefined, "the migration made the row of the chain's end");
  return { number: head.number, hash: head.hash };
}

/** What was changed to something that is no JSON is shown as it is: its hash no longer fits. */
function asStored<T>(text: string, otherwise: (text: string) => T): T {
  try {
    return fromJson<T>(text);
  } catch {
    return otherwise(text);
  }
}

function toRow(record: AuditRecord): AuditRow {
  return {
    number: record.number,
    id: record.id,
    created_at: record.createdAt,
    actor: record.actor,
    action: record.action,
    account_id: record.accountId,
    targets: JSON.stringify(record.targets),
    fields: JSON.stringify(record.fields),
    previous_hash: record.previousHash,
    hash: record.hash,
  };
}

function toRecord(row: AuditRow): AuditRecord {
  return {
    id: row.id,
    number: row.number,
    createdAt: row.created_at,
    actor: row.actor,
    action: row.action,
    accountId: row.account_id,
    targets: asStored(row.targets, (text) => [text]),
    fields: asStored(row.fields, (unreadable) => ({ unreadable })),
    previousHash: row.previous_hash,
    hash: row.hash,
  };
}
