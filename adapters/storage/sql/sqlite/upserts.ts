import type { Table } from "../session.js";

/** Ends an INSERT: a row whose key exists takes the place of what is there. */
export function replacingClause<Row extends object>(table: Table<Row>): string {
  return upsertClause(table, (column) => `excluded.${column}`);
}

/** Ends an INSERT: what a row whose key exists holds is added to what is there. */
export function addingClause<Row extends object>(table: Table<Row>): string {
  return upsertClause(table, (column) => `${column} + excluded.${column}`);
}

/** @param valueOf what a column holds afterwards */
function upsertClause<Row extends object>(table: Table<Row>, valueOf: (column: string) => string): string {
  const changes = table.columns
    .filter((column) => !table.key.includes(column))
    .map((column) => `${column} = ${valueOf(column)}`);
  return ` ON CONFLICT (${table.key.join(", ")}) DO UPDATE SET ${changes.join(", ")}`;
}
