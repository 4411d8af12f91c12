import type { Digest } from "../ports/digest.js";
import type { Fingerprint } from "../ports/idempotency-store.js";

type Json = null | boolean | number | string | readonly Json[] | { readonly [member: string]: Json };

/**
 * Fingerprints a request whose body is `body`, a value as `JSON.parse` returns it.
 *
 * @param route method and path template, e.g. `POST /api/v1/generations`
 * @see decisions, "Idempotency"
 */
export function fingerprint(digest: Digest, route: string, body: unknown): Fingerprint {
  return {
    shape: digest.sha256(JSON.stringify([route, ...memberPaths(body as Json, "").sort()])),
    body: digest.sha256(canonicalJson(body as Json)),
  };
}

/**
 * JSON text in which equal values are equal texts: members sorted by UTF-16 code units (as RFC 8785), no white space.
 */
function canonicalJson(value: Json): string {
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  const members = Object.keys(value).sort();
  return `{${members.map((name) => `${JSON.stringify(name)}:${canonicalJson(value[name] as Json)}`).join(",")}}`;
}

/** Names are quoted in paths, so that a name with a slash in it is no path of two members. */
const METADATA_PATH = '/"metadata"';

function memberPaths(value: Json, path: string): string[] {
  const own = `${path} ${typeName(value)}`;
  if (value === null || typeof value !== "object" || path === METADATA_PATH) return [own];
  const children = isArray(value)
    ? value.map((item) => memberPaths(item, `${path}/[]`))
    : Object.entries(value).map(([name, member]) => memberPaths(member, `${path}/${JSON.stringify(name)}`));
  return [own, ...new Set(children.flat())];
}

function typeName(value: Json): string {
  if (value === null) return "null";
  return isArray(value) ? "array" : typeof value;
}

function isArray(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
