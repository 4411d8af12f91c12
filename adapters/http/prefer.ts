import { WAIT_MAX_SECONDS } from "../../core/generations/wait-for-job.js";

/** A comma or semicolon outside quotes ends a piece. */
const PIECES = /((?:[^,;"]|"(?:[^"\\]|\\.)*"?)*)([,;]|$)/g;
const WAIT = /^\s*wait\s*(?:=\s*"?(.*?)"?\s*)?$/i;

/**
 * The seconds of `Prefer: wait=N`, at most {@link WAIT_MAX_SECONDS}; null when nothing usable is preferred.
 *
 * @see RFC 7240: of a preference that is given twice the first counts, and what cannot be read is ignored
 */
export function preferredWaitSeconds(header: string | undefined): number | null {
  if (header === undefined) return null;
  let isPreference = true;
  for (const [, piece = "", end = ""] of header.matchAll(PIECES)) {
    const wait = isPreference ? WAIT.exec(piece) : null;
    if (wait !== null) return /^\d+$/.test(wait[1] ?? "") ? Math.min(Number(wait[1]), WAIT_MAX_SECONDS) : null;
    isPreference = end === ",";
  }
  return null;
}
