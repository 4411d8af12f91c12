import type { TrackTags } from "./assets.js";

/** The members of a JSON object. */
export type Bag = Readonly<Record<string, unknown>>;

/** The members of a JSON object; none of anything else. */
export function bagOf(value: unknown): Bag {
  return isObject(value) ? value : {};
}

/** True for a JSON object: no list, no null. */
export function isObject(value: unknown): value is Bag {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** True for the text of an http or https URL. */
export function isLink(value: unknown): value is string {
  return typeof value === "string" && /^https?:\/\/./i.test(value) && URL.canParse(value);
}

/** Of a track that nothing is said about. */
export const NO_TAGS: TrackTags = { mood: [], activity: [], genre: [], other: [] };
