import { asObject, lyricsOf, timedWord } from "../sdk/index.js";
import type { JsonObject, ProviderTrack } from "../sdk/index.js";

/** The `lyrics` of a choice. Times are in milliseconds; older models time lines only. */
export function lyricsIn({ lyrics_sections: given }: JsonObject): Pick<ProviderTrack, "lyrics"> {
  const sections = objectsIn(given);
  const text = sections
    .map(textOf)
    .filter((part) => part !== "")
    .join("\n\n");
  const lines = sections.flatMap(({ lines: listed }) => objectsIn(listed));
  const words = lines.map(({ words: listed }) => objectsIn(listed));
  // A line without words would be a gap between those that have them.
  const isTimed = words.every((list) => list.length > 0);
  const timed = words.flat().flatMap(({ text: word, start, end }) => timedWord(word, start, end));
  return lines.length === 0 ? {} : lyricsOf(text, isTimed ? timed : []);
}

function textOf({ section_type: type, lines }: JsonObject): string {
  const texts = objectsIn(lines).flatMap(({ text }) =>
    typeof text === "string" && text.trim() !== "" ? [text.trim()] : [],
  );
  if (texts.length === 0) return "";
  return [...(typeof type === "string" && type !== "" ? [`[${type}]`] : []), ...texts].join("\n");
}

function objectsIn(list: unknown): JsonObject[] {
  return Array.isArray(list) ? list.map(asObject) : [];
}
