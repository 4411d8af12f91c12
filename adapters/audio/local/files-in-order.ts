import type { Dirent } from "node:fs";
import { opendir } from "node:fs/promises";
import { join } from "node:path";

/** Names that are kept of a directory at once: it may have hundreds of thousands. */
const NAMES_MAX = 10_000;
/** Names that are read with one call of the system. */
const READ_NAMES = 1_000;

/**
 * The files under a directory by their paths, parts joined by `/`, in the order of those paths (by code units), from
 * the first behind `after`. Names that begin with a dot are skipped. What vanishes meanwhile is left out.
 */
export async function* filesBehind(
  directory: string,
  after: string | null,
  namesMax = NAMES_MAX,
  prefix = "",
): AsyncGenerator<string> {
  let last: string | null = null;
  for (;;) {
    const entries = await firstEntries(directory, prefix, namesMax, ({ path, isDirectory }) => {
      if (last !== null && path <= last) return false;
      return after === null || path > after || (isDirectory && after.startsWith(path));
    });
    for (const { path, isDirectory } of entries) {
      if (isDirectory) yield* filesBehind(join(directory, path.slice(prefix.length)), after, namesMax, path);
      else yield path;
    }
    if (entries.length < namesMax) return;
    last = entries.at(-1)?.path ?? null;
  }
}

interface Entry {
  /** A directory's ends with `/`, which also gives it its place among the others. */
  readonly path: string;
  readonly isDirectory: boolean;
}

/** The first of those entries of a directory that are wanted. */
async function firstEntries(
  directory: string,
  prefix: string,
  namesMax: number,
  isWanted: (entry: Entry) => boolean,
): Promise<Entry[]> {
  const found: Entry[] = [];
  const keepFirst = (): void => {
    found.sort((a, b) => (a.path < b.path ? -1 : 1));
    found.length = Math.min(found.length, namesMax);
  };
  try {
    for await (const entry of await opendir(directory, { bufferSize: READ_NAMES })) {
      if (entry.name.startsWith(".")) continue;
      const one = toEntry(entry, prefix);
      if (!isWanted(one)) continue;
      found.push(one);
      if (found.length >= 4 * namesMax) keepFirst();
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  keepFirst();
  return found;
}

function toEntry(entry: Dirent, prefix: string): Entry {
  const isDirectory = entry.isDirectory();
  return { path: `${prefix}${entry.name}${isDirectory ? "/" : ""}`, isDirectory };
}
