import { InvalidRequestError, type RequestIssue } from "../errors.js";
import type { AccountId } from "../ids.js";
import type { LibrarySearch } from "./search.js";
import { foldTag, foldWords } from "./words.js";

/** What a caller asks for; members that were not given are undefined. */
export interface SearchInput {
  readonly q?: string | undefined;
  readonly mood?: string | undefined;
  readonly activity?: string | undefined;
  readonly limit?: number | undefined;
  /** `next` of the search before; undefined: the best. */
  readonly cursor?: string | undefined;
}

export const SEARCH_LIMIT = { default: 10, minimum: 1, maximum: 25 } as const;
/** Of each text of a search, in code points. */
export const SEARCH_TEXT_MAX_LENGTH = 200;
export const SEARCH_WORDS_MAX = 16;

/**
 * A search as the storage takes it. A `q` without any letter or number, and a blank `mood` or `activity`, filter
 * nothing.
 *
 * @throws {InvalidRequestError} `details.issues` holds every issue
 * @see API v1, section 4, "GET /api/v1/library/search"; decisions, "Library"
 */
export function toSearch(viewer: AccountId, input: SearchInput): LibrarySearch {
  const issues: RequestIssue[] = [];
  for (const name of ["q", "mood", "activity"] as const) {
    if ([...(input[name] ?? "")].length > SEARCH_TEXT_MAX_LENGTH) {
      issues.push({ path: `query.${name}`, message: `must have at most ${SEARCH_TEXT_MAX_LENGTH} characters` });
    }
  }
  const limit = input.limit ?? SEARCH_LIMIT.default;
  const { minimum, maximum } = SEARCH_LIMIT;
  if (!Number.isInteger(limit) || limit < minimum || limit > maximum) {
    issues.push({ path: "query.limit", message: `must be ${minimum} to ${maximum}` });
  }
  if (issues.length > 0) throw new InvalidRequestError(issues);
  const words = foldWords(input.q ?? "");
  if (words.length > SEARCH_WORDS_MAX) {
    throw new InvalidRequestError([{ path: "query.q", message: `must have at most ${SEARCH_WORDS_MAX} words` }]);
  }
  return { viewer, words: [...new Set(words)], mood: toTag(input.mood), activity: toTag(input.activity), limit };
}

function toTag(text: string | undefined): string | null {
  return text === undefined || text.trim() === "" ? null : foldTag(text);
}
