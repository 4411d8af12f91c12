/** The members of a JSON object. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** True for a JSON object; false for a list and null. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The JSON object itself; an empty object for any other value. */
export function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** JSON as text or in UTF-8; undefined when it is not JSON. */
export function parseJson(source: string | Uint8Array): unknown {
  try {
    return JSON.parse(typeof source === "string" ? source : new TextDecoder().decode(source)) as unknown;
  } catch {
    return undefined;
  }
}

/** True for the text of an http or https URL. */
export function isLink(value: unknown): value is string {
  return typeof value === "string" && /^https?:\/\/./i.test(value) && URL.canParse(value);
}
