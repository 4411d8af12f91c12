import { isObject, parseJson } from "../sdk/index.js";
import type { Host } from "./settings.js";

/** Our label of a stem to its file in the ZIP; null: the operator named none, so tracks cannot be split. */
export type StemFiles = ReadonlyMap<string, string> | null;

/** @throws {Error} for a setting that is no such table */
export function readStemFiles({ stemFiles }: Host["settings"]): StemFiles {
  if (stemFiles === undefined) return null;
  const table = parseJson(stemFiles);
  const entries = isObject(table) ? Object.entries(table) : [];
  // `full` is the whole track.
  const isLabel = (label: string): boolean => /^[a-z][a-z0-9_ -]*$/.test(label) && label !== "full";
  const areGood = entries.every(([label, file]) => isLabel(label) && typeof file === "string" && file !== "");
  if (entries.length === 0 || !areGood)
    throw new Error(
      `stemFiles: ${JSON.stringify(stemFiles)}; allowed: a JSON object such as {"vocals":"vocals.mp3"}, ` +
        "labels in lower case",
    );
  return new Map(entries as [string, string][]);
}
