import { KnexLibraryStore } from "../../adapters/storage/sql/library/library-store.js";
import type { KnexDatabase } from "../../adapters/storage/sql/index.js";
import { SEARCH_LIMITS } from "../../adapters/storage/sql/library/search/library-search.js";
import { toTransaction } from "../../adapters/storage/sql/session.js";

/** Rows of a table, by their columns. */
export type Rows = readonly Readonly<Record<string, unknown>>[];

/** All private items of all accounts, in segments of two. */
export async function indexAll(database: KnexDatabase): Promise<void> {
  const library = new KnexLibraryStore(database, { ...SEARCH_LIMITS, segment: 2 });
  await database.write("fermata_search_due").delete();
  const shelves = await database.all<{ shelf: string }>("SELECT DISTINCT shelf FROM {search_loose}");
  await database
    .write("fermata_search_due")
    .insert(shelves.map(({ shelf }) => ({ shelf, item_id: `note_${shelf}`.slice(0, 30), created_at: 0 })));
  for (let more = true; more;)
    more = await database.transaction((session) => library.indexPending(toTransaction(session)));
}

/** A port whose calls fail, before or after they were made, where `isLost` says so. */
export function losing<Port extends object>(port: Port, when: "before" | "after", isLost: () => boolean): Port {
  return new Proxy(port, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      return async (...given: unknown[]): Promise<unknown> => {
        const isNow = isLost();
        if (isNow && when === "before") throw new Error("scripted: the process is lost");
        const result: unknown = await (member as (...all: unknown[]) => unknown).apply(target, given);
        if (isNow) throw new Error("scripted: the process is lost");
        return result;
      };
    },
  });
}

/** Every row of every table, by the table's name without the prefix. */
export async function dump(database: KnexDatabase): Promise<Map<string, Rows>> {
  const names =
    database.dialect.name === "mysql"
      ? await database.all<{ name: string }>(
          "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE()",
        )
      : await database.all<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'");
  const tables = new Map<string, Rows>();
  for (const { name } of names)
    if (name.startsWith("fermata_"))
      tables.set(name.replace("fermata_", ""), (await database.read(name).select()) as Rows);
  return tables;
}

/** Tables and columns with a row that has one of these texts in it, whatever its type. */
export function columnsWith(tables: ReadonlyMap<string, Rows>, words: readonly string[]): string[] {
  const found = new Set<string>();
  for (const [table, rows] of tables)
    for (const row of rows)
      for (const [column, value] of Object.entries(row))
        if (words.some((word) => textOf(value).includes(word))) found.add(`${table}.${column}`);
  return [...found].sort();
}

/** A cell as text. */
export function textOf(value: unknown): string {
  if (Buffer.isBuffer(value)) return value.toString("latin1");
  return typeof value === "string" ? value : JSON.stringify(value ?? null);
}
