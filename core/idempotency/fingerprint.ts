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
    shape: digest.sha256(JSON.stringify([route, ...memberPaths(body as Json)])),
    body: digest.sha256(canonicalJson(body as Json)),
  };
}

/**
 * JSON text in which equal values are equal texts: members sorted by UTF-16 code units (as RFC 8785), no white space.
 */
function canonicalJson(value: Json): string {
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  let members = "";
  for (const name of Object.keys(value).sort()) {
    members += `${members === "" ? "" : ","}${quoted(name)}:${canonicalJson(value[name] as Json)}`;
  }
  return `{${members}}`;
}

const NEEDS_NO_ESCAPE = /^[\w-]*$/;

/** As `JSON.stringify` returns it, which takes several times as long. */
function quoted(name: string): string {
  return NEEDS_NO_ESCAPE.test(name) ? `"${name}"` : JSON.stringify(name);
}

/** Names are quoted in paths, so that a name with a slash in it is no path of two members. */
const METADATA_PATH = '/"metadata"';

/** Each once, however many items of an array have it; sorted. */
function memberPaths(body: Json): string[] {
  const paths = new Set<string>();
  const add = (value: Json, path: string): void => {
    paths.add(`${path} ${typeName(value)}`);
    if (value === null || typeof value !== "object" || path === METADATA_PATH) return;
    if (isArray(value)) for (const item of value) add(item, `${path}/[]`);
    else for (const name of Object.keys(value)) add(value[name] as Json, `${path}/${quoted(name)}`);
  };
  add(body, "");
  return [...paths].sort();
}

function typeName(value: Json): string {
  if (value === null) return "null";
  return isArray(value) ? "array" : typeof value;
}

function isArray(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
