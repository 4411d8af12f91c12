import type { DataOf, InitOf, PathsOf } from "./types.js";

/** A list, with the address of what follows. */
interface Page {
  readonly next_cursor?: string | null;
}

type Get = (path: string, init: object) => Promise<object>;

/**
 * The pages of a list, each read when it is asked for, until one has no `next_cursor`.
 *
 * @param cursorName the query parameter that takes `next_cursor`
 */
export async function* pagesOf<Path extends PathsOf<"get">>(
  get: Get,
  path: Path,
  init: Partial<InitOf<Path, "get">>,
  cursorName: string,
): AsyncGenerator<DataOf<Path, "get">, void, undefined> {
  const { params = {}, ...options } = init as { readonly params?: { readonly query?: object } };
  for (let query = params.query ?? {}; ;) {
    const page = await get(path, { ...options, params: { ...params, query } });
    yield page as DataOf<Path, "get">;
    const next = (page as Page).next_cursor ?? null;
    if (next === null) return;
    query = { ...query, [cursorName]: next };
  }
}
