import type { RowUpdate, SqlValue, Table } from "./session.js";

/** How a member of an entity is stored. Methods, so that columns of all types fit one record of them. */
export interface Column<T, Sql extends SqlValue = SqlValue, Name extends string = string> {
  /** null: the member's own name in snake case. */
  readonly name: Name | null;
  toSql(value: T): Sql;
  fromSql(stored: Sql): T;
}

type Columns = Readonly<Record<string, Column<unknown>>>;

/** `accountId` → `account_id`. */
type Snake<Member extends string> = Member extends `${infer First}${infer Rest}`
  ? First extends Lowercase<First>
    ? `${First}${Snake<Rest>}`
    : `_${Lowercase<First>}${Snake<Rest>}`
  : Member;

type NameOf<Member extends string, C> = C extends { readonly name: infer Name }
  ? string extends NonNullable<Name>
    ? Snake<Member>
    : Name & string
  : never;

type Entity<C> = { readonly [M in keyof C]: C[M] extends { fromSql(stored: never): infer T } ? T : never };

type Row<C> = {
  [M in keyof C & string as NameOf<M, C[M]>]: C[M] extends { toSql(value: never): infer Sql } ? Sql : never;
};

/** What one row of a table holds as the driver gives it. */
export type RowOf<T> = T extends EntityTable<infer C> ? Row<C> : never;

export interface EntityTable<C extends Columns> extends Table<Row<C>> {
  toRow(entity: Entity<C>): Row<C>;
  fromRow(row: Row<C>): Entity<C>;
  /** The columns of the members that are there, with their values; a member that is undefined is not there. */
  changed(changes: Partial<Entity<C>>): { readonly columns: readonly string[]; readonly values: readonly SqlValue[] };
}

/**
 * Declares a table once: its columns in the order in which rows are written, each by the member that it stores.
 *
 * @param key the members of the primary key
 */
export function table<const C extends Columns>(
  name: string,
  columns: C,
  key: readonly (keyof C & string)[],
): EntityTable<C> {
  const members = Object.entries(columns).map(([member, column]) => ({
    member,
    column,
    name: column.name ?? snake(member),
  }));
  const nameOf = (member: string): string => columns[member]?.name ?? snake(member);
  // Copies of these have all their members at once: one that gets them one by one takes twice as long.
  const emptyRow = Object.fromEntries(members.map((one) => [one.name, null]));
  const emptyEntity: Readonly<Record<string, unknown>> = Object.fromEntries(members.map((one) => [one.member, null]));
  return {
    name,
    columns: members.map((one) => one.name as keyof Row<C> & string),
    key: key.map((member) => nameOf(member) as keyof Row<C> & string),
    toRow: (entity) => {
      const row: Record<string, SqlValue> = { ...emptyRow };
      const given = entity as Record<string, unknown>;
      for (const one of members) row[one.name] = one.column.toSql(given[one.member]);
      return row as Row<C>;
    },
    fromRow: (row) => {
      const entity: Record<string, unknown> = { ...emptyEntity };
      const stored = row as Record<string, SqlValue>;
      for (const one of members) entity[one.member] = one.column.fromSql(stored[one.name] as SqlValue);
      return entity as Entity<C>;
    },
    changed: (changes) => {
      const given = changes as Record<string, unknown>;
      const there = members.filter(({ member }) => given[member] !== undefined);
      return {
        columns: there.map((one) => one.name),
        values: there.map(({ member, column }) => column.toSql(given[member])),
      };
    },
  };
}

/** A text, a number or null, stored as it is. */
export function plain<T extends SqlValue>(): Column<T, T> {
  return { name: null, toSql: (value) => value, fromSql: (stored) => stored };
}

/** A column whose name is not that of its member. */
export function named<T, Sql extends SqlValue, const Name extends string>(
  name: Name,
  { toSql, fromSql }: Column<T, Sql>,
): Column<T, Sql, Name> {
  return { name, toSql, fromSql };
}

/** A number that rows older than its column lack: they hold null. */
export function numberOr(otherwise: number): Column<number, number | null> {
  return { name: null, toSql: (value) => value, fromSql: (stored) => stored ?? otherwise };
}

/** 0 or 1. */
export function flag(): Column<boolean, number> {
  return { name: null, toSql: Number, fromSql: Boolean };
}

/** JSON kept as text; some drivers parse it by themselves. null stays null. */
export function json<T>(): Column<T, null extends T ? string | null : string>;
export function json<T>(): Column<T, string | null> {
  return { name: null, toSql: (value) => toJson(value as object | null), fromSql: (stored) => fromJson<T>(stored) };
}

/** Seconds, stored as whole milliseconds. */
export function seconds(): Column<number | null, number | null> {
  return {
    name: null,
    toSql: (value) => (value === null ? null : Math.round(value * 1000)),
    fromSql: (stored) => (stored === null ? null : stored / 1000),
  };
}

/** Bytes kept as base64. */
export function base64<T extends Uint8Array | null>(): Column<T, null extends T ? string | null : string>;
export function base64(): Column<Uint8Array | null, string | null> {
  return {
    name: null,
    toSql: (value) => (value === null ? null : Buffer.from(value).toString("base64")),
    fromSql: (stored) => (stored === null ? null : new Uint8Array(Buffer.from(stored, "base64"))),
  };
}

export function fromJson<T>(value: unknown): T {
  return (typeof value === "string" ? JSON.parse(value) : value) as T;
}

export function toJson(value: object | null): string | null {
  return value === null ? null : JSON.stringify(value);
}

function snake(member: string): string {
  return member.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** An update that counts only while the row still has this fence. What changes nothing still tells whether it has. */
export function fencedUpdate<C extends Columns>(
  { changed }: Pick<EntityTable<C>, "changed">,
  { id, fence, changes }: { readonly id: string; readonly fence: number; readonly changes: Partial<Entity<C>> },
): RowUpdate {
  const { columns, values } = changed(changes);
  const key = [id, fence];
  return columns.length === 0 ? { key, columns: ["fence"], values: [fence] } : { key, columns, values };
}
