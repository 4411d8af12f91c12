import { InvalidRequestError } from "../errors.js";
import { type IdByPrefix, type IdPrefix, isId } from "../ids.js";
import type { Digest } from "../ports/digest.js";
import type { ListPosition } from "../ports/list-page.js";

type Part = string | number | null;

/** How the places in a list are written. All texts in them are ASCII. */
export interface PositionForm<Position> {
  toParts(position: Position): readonly Part[];
  /** null: it is no place in such a list. */
  fromParts(parts: readonly unknown[]): Position | null;
}

/**
 * What a cursor is for, next to its list: the account, and the filters as the caller gave them. Filters that were not
 * given are undefined.
 */
export interface CursorScope {
  readonly accountId: string | null;
  readonly filters?: Readonly<Record<string, string | number | boolean | undefined>>;
}

/** Hexadecimal digits of a hash: enough that no cursor fits by chance. */
const CHECKSUM_LENGTH = 16;

/**
 * The cursors of one list: places in it in base64url, each with a checksum of the place and of what the cursor is for,
 * so that no cursor of another list, account or filter is taken, nor one that was cut off. The checksum is no
 * signature, because there is nothing to protect: what a list shows depends on the account alone.
 */
export class ListCursors<Position> {
  constructor(
    private readonly digest: Pick<Digest, "sha256">,
    private readonly list: string,
    private readonly form: PositionForm<Position>,
  ) {}

  /** null for no position: nothing follows. */
  write(position: Position | null, scope: CursorScope): string | null {
    if (position === null) return null;
    const parts = this.form.toParts(position);
    return toBase64Url(JSON.stringify([this.checksumOf(parts, scope), ...parts]));
  }

  /**
   * The place that a cursor names; null where there is no cursor: the list begins at its first item.
   *
   * @throws {InvalidRequestError} the cursor is none of this list, account and filters
   */
  read(cursor: string | undefined, scope: CursorScope): Position | null {
    if (cursor === undefined) return null;
    const [checksum, ...parts] = partsOf(cursor);
    const position = checksum === this.checksumOf(parts, scope) ? this.form.fromParts(parts) : null;
    if (position === null) throw wrongCursor("must be next_cursor of this list, with the same filters");
    return position;
  }

  private checksumOf(parts: readonly unknown[], { accountId, filters = {} }: CursorScope): string {
    const given = Object.entries(filters).filter(([, value]) => value !== undefined);
    return this.digest.sha256(JSON.stringify([this.list, accountId, given.sort(), parts])).slice(0, CHECKSUM_LENGTH);
  }
}

export function wrongCursor(message: string): InvalidRequestError {
  return new InvalidRequestError([{ path: "query.cursor", message }]);
}

/** Places in a list of what has ids of this prefix, the newest first. */
export function newestFirst<Prefix extends IdPrefix>(prefix: Prefix): PositionForm<ListPosition<IdByPrefix[Prefix]>> {
  return {
    toParts: ({ createdAt, id }) => [createdAt, id],
    fromParts: ([createdAt, id]) =>
      Number.isSafeInteger(createdAt) && typeof id === "string" && isId(prefix, id)
        ? { createdAt: createdAt as number, id }
        : null,
  };
}

function toBase64Url(text: string): string {
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Nothing of what is no cursor at all. */
function partsOf(cursor: string): readonly unknown[] {
  if (!/^[\w-]+$/.test(cursor)) return [];
  try {
    const parts: unknown = JSON.parse(atob(cursor.replaceAll("-", "+").replaceAll("_", "/")));
    return Array.isArray(parts) ? (parts as readonly unknown[]) : [];
  } catch {
    return [];
  }
}
