import type { KnexDatabase } from "../../adapters/storage/sql/index.js";
import type { SqlValue } from "../../adapters/storage/sql/session.js";

export interface Asked {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

/** How an engine executes a statement. */
export interface Plan {
  /** The index by which each large table is read; null for a full scan. */
  readonly indexes: readonly (string | null)[];
  /** Which of them are covering: no row is read. */
  readonly covering: readonly boolean[];
  /** Whether the first one is. */
  readonly covers: boolean;
  readonly sorts: boolean;
  /** For the message of a failure. */
  readonly notified: string;
}

export function explain(database: KnexDatabase, asked: Asked): Promise<Plan> {
  return database.dialect.name === "mysql" ? explainMysql(database, asked) : explainSqlite(database, asked);
}

async function explainSqlite(database: KnexDatabase, { text, values }: Asked): Promise<Plan> {
  const rows = await database.reading((session) =>
    session.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${text}`, values),
  );
  const details = rows.map(({ detail }) => detail);
  const reads = details.filter((detail) => /^(SCAN|SEARCH) /.test(detail));
  return {
    indexes: reads.map((detail) => {
      const index = /^SEARCH .* USING (?:COVERING )?INDEX (\w+)/.exec(detail)?.[1] ?? null;
      const isKey = index?.startsWith("sqlite_autoindex") === true || /^SEARCH .* USING PRIMARY KEY/.test(detail);
      return isKey ? "by id" : index;
    }),
    covering: reads.map((detail) => detail.includes("COVERING")),
    covers: reads[0]?.includes("COVERING") ?? false,
    sorts: details.some((detail) => detail.includes("TEMP B-TREE")),
    notified: `${text}\n${details.join("\n")}`,
  };
}

interface ExplainedTable {
  readonly table: string | null;
  readonly type: string;
  readonly key: string | null;
  readonly Extra: string | null;
}

async function explainMysql(database: KnexDatabase, { text, values }: Asked): Promise<Plan> {
  const all = await database.reading((session) =>
    session.all<ExplainedTable>(`EXPLAIN FORMAT=TRADITIONAL ${text}`, values),
  );
  // Of a union: what puts its parts together.
  const rows = all.filter(({ table }) => table?.startsWith("<union") !== true);
  return {
    // Type `index` scans a whole index, `ALL` a whole table.
    indexes: rows.map(({ type, key }) => (key === null || type === "index" ? null : key === "PRIMARY" ? "by id" : key)),
    covering: rows.map(isCovering),
    covers: rows.slice(0, 1).some(isCovering),
    sorts: rows.some(({ Extra }) => /filesort|temporary/.test(Extra ?? "")),
    notified: `${text}\n${JSON.stringify(rows)}`,
  };
}

function isCovering({ Extra }: ExplainedTable): boolean {
  return /Using index(;|$)/.test(Extra ?? "");
}
