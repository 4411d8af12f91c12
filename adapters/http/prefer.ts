import { WAIT_MAX_SECONDS } from "../../core/generations/wait-for-job.js";

/** A comma or semicolon outside quotes ends a token. Every text matches, so the expression never backtracks. */
const CHUNKS = /((?:[^,;"]|"(?:[^"\\]|\\.)*"?)*)([,;]|$)/g;

/**
 * The seconds of `Prefer: wait=N`, at most {@link WAIT_MAX_SECONDS}; null when nothing usable is preferred.
 *
 * @see RFC 7240: of a preference that is given twice the first counts, and what cannot be read is ignored
 */
export function preferredWaitSeconds(header: string | undefined): number | null {
  if (header === undefined) return null;
  let isPreference = true;
  for (const [, chunk = "", end = ""] of header.matchAll(CHUNKS)) {
    const [name = "", ...value] = chunk.split("=");
    // What follows a semicolon is a parameter of the preference before it.
    if (isPreference && name.trim().toLowerCase() === "wait") return toSeconds(value.join("=").trim());
    isPreference = end === ",";
  }
  return null;
}

function toSeconds(value: string): number | null {
  const digits = /^("?)(\d+)\1$/.exec(value)?.[2];
  return digits === undefined ? null : Math.min(Number(digits), WAIT_MAX_SECONDS);
}
