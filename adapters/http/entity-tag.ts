import { createHash } from "node:crypto";

/** 144 bits. */
const TAG_LENGTH = 24;

/** A strong tag of a body: equal texts have equal tags, others do not. */
export function entityTagOf(text: string): string {
  return `"${createHash("sha256").update(text).digest("base64url").slice(0, TAG_LENGTH)}"`;
}

/**
 * Whether If-None-Match has the tag, by weak comparison: a proxy that compresses a response makes its tag a weak one.
 *
 * @param ifNoneMatch the header: a list of tags, or `*` for any
 * @param tag a strong one
 * @see RFC 9110, section 13.1.2
 */
export function hasTag(ifNoneMatch: string, tag: string): boolean {
  return ifNoneMatch.split(",").some((each) => each.trim() === "*" || each.trim().replace(/^W\//, "") === tag);
}
