import type { DataOf, InitOf, PathsOf } from "./types.js";

/**
 * A list, with what leads on. Servers of before have no `next_cursor`. A list of events always has one: it says by
 * `has_more` whether it ends.
 */
interface Page {
  readonly next_cursor?: string | null;
  readonly has_more?: boolean;
}

/** The paths of lists. */
export type ListPaths = {
  [Path in PathsOf<"get">]: DataOf<Path, "get"> extends { next_cursor: string | null } ? Path : never;
}[PathsOf<"get">];

type Get = (path: string, init: object) => Promise<object>;

/** The pages of a list, each read when it is asked for, until nothing follows. */
export async function* pagesOf<Path extends ListPaths>(
  get: Get,
  path: Path,
  init: Partial<InitOf<Path, "get">>,
): AsyncGenerator<DataOf<Path, "get">, void, undefined> {
  const { params = {}, ...options } = init as { readonly params?: { readonly query?: object } };
  for (let query = params.query ?? {}; ;) {
    const page = (await get(path, { ...options, params: { ...params, query } })) as Page;
    yield page as DataOf<Path, "get">;
    const { next_cursor: next = null, has_more: hasMore } = page;
    if (next === null || hasMore === false) return;
    query = { ...query, [hasMore === undefined ? "cursor" : "after"]: next };
  }
}
