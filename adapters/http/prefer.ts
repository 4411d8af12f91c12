/** A comma or semicolon outside quotes ends a token. Every text matches, so the expression never backtracks. */
const CHUNKS = /((?:[^,;"]|"(?:[^"\\]|\\.)*"?)*)([,;]|$)/g;

/**
 * The seconds of `Prefer: wait=N`, at most `maxSeconds`; null when nothing usable is preferred.
 *
 * @see RFC 7240: of a preference that is given twice the first counts, and what cannot be read is ignored
 */
export function preferredWaitSeconds(header: string | undefined, maxSeconds: number): number | null {
  if (header === undefined) return null;
  let isPreference = true;
  for (const [, chunk = "", end = ""] of header.matchAll(CHUNKS)) {
    const [name = "", ...value] = chunk.split("=");
    // What follows a semicolon is a parameter of the preference before it.
    if (isPreference && name.trim().toLowerCase() === "wait") return toSeconds(value.join("=").trim(), maxSeconds);
    isPreference = end === ",";
  }
  return null;
}

function toSeconds(value: string, maxSeconds: number): number | null {
  const digits = /^("?)(\d+)\1$/.exec(value)?.[2];
  return digits === undefined ? null : Math.min(Number(digits), maxSeconds);
}
