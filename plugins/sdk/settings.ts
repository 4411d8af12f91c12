import type { SettingDeclarations } from "../../core/ports/music-provider.js";
import { isLink, isObject, type JsonObject, parseJson } from "./json.js";

/** Keeps the literal types of settings that are declared outside their definition. */
export function defineSettings<const Declared extends SettingDeclarations>(declared: Declared): Declared {
  return declared;
}

/** @param description which key, and where to get it */
export function apiKey(description: string) {
  return { type: "string", required: true, secret: true, description } as const;
}

/** @param url of the provider's own API */
export function baseUrl(url: string, description = "Base URL of the API, without a slash at its end") {
  return { type: "string", default: url, description } as const;
}

interface Bounds {
  readonly minimum?: number;
  readonly maximum?: number;
  readonly description?: string;
}

/** How long one call may take; 1 second to 10 minutes unless `bounds` say otherwise. */
export function timeoutMs(
  defaultMs: number,
  { minimum = 1_000, maximum = 600_000, description = "How long one call may take" }: Bounds = {},
) {
  return { type: "integer", default: defaultMs, minimum, maximum, description } as const;
}

/** How often accepted work is polled; every 0.5 seconds to every 10 minutes unless `bounds` say otherwise. */
export function pollMs(
  defaultMs: number,
  { minimum = 500, maximum = 600_000, description = "How often accepted work is polled" }: Bounds = {},
) {
  return { type: "integer", default: defaultMs, minimum, maximum, description } as const;
}

/**
 * The URL that a setting holds, without slashes at its end.
 *
 * @throws {Error} naming the setting
 */
export function httpUrl(name: string, text: string): string {
  const url = text.trim().replace(/\/+$/, "");
  if (!isLink(url)) throw new Error(`${name}: ${JSON.stringify(text)}; allowed: an http or https URL`);
  return url;
}

/**
 * The JSON object that a setting holds as text.
 *
 * @param example shown to the operator
 * @throws {Error} naming the setting
 */
export function jsonObject(name: string, text: string, example: string): JsonObject {
  const value = parseJson(text);
  if (!isObject(value)) throw new Error(`${name}: ${JSON.stringify(text)}; allowed: a JSON object such as ${example}`);
  return value;
}
