import { asObject, ProviderFailure } from "../sdk/index.js";
import type { JsonObject } from "../sdk/index.js";

/** Bounds of one part, a section or a chunk. */
const LINES_MAX = 30;
const LINE_LENGTH_MAX = 200;
const NAME_LENGTH_MAX = 100;

/** The plan does not halve a verse of fewer lines. */
const HALVED_LINES_MIN = 4;

/** The text of a part without words. */
const SILENT = "[Instrumental]";

/** The plan in a response, with the words that ElevenLabs wrote; null when its shape is unknown. */
export function planIn(plan: unknown): JsonObject | null {
  const { sections, chunks } = asObject(plan);
  return [sections, chunks].some((parts) => Array.isArray(parts) && parts.length > 0) ? asObject(plan) : null;
}

/**
 * The plan with these words in place of its own. Styles and lengths stay: they are within ElevenLabs' bounds.
 *
 * @param plan of `music_v1` (sections) or of `music_v2` and later (chunks)
 * @returns null when it is neither
 * @throws {ProviderFailure} `invalid_input`: more words than its parts can hold
 */
export function withLyrics(plan: unknown, lyrics: string): JsonObject | null {
  const { sections, chunks } = asObject(plan);
  if (Array.isArray(chunks) && chunks.length > 0) {
    return { ...asObject(plan), chunks: sung(chunks.map(asObject), lyrics, { isSung: isSungChunk, sing: singChunk }) };
  }
  if (Array.isArray(sections) && sections.length > 0) {
    return {
      ...asObject(plan),
      sections: sung(sections.map(asObject), lyrics, { isSung: isSungSection, sing: singSection }),
    };
  }
  return null;
}

/** A chunk without words; its directions stay. */
export function withoutWords(chunk: JsonObject): JsonObject {
  return singChunk(chunk, []);
}

/** The words of a plan, with the labels of its parts; empty where it has none, or its shape is unknown. */
export function wordsIn(plan: unknown): string {
  const { sections, chunks } = asObject(plan);
  const ofChunks = objectsIn(chunks)
    .filter(isSungChunk)
    .map(({ text }) => linesOf(text).filter((line) => !isDirection(line)));
  const ofSections = objectsIn(sections)
    .filter(isSungSection)
    .map(({ section_name: name, lines }) => [
      ...(typeof name === "string" ? labelled(name.trim()) : []),
      ...(lines as readonly unknown[]).filter((line) => typeof line === "string"),
    ]);
  return [...ofChunks, ...ofSections].map((lines) => lines.join("\n")).join("\n\n");
}

function objectsIn(list: unknown): JsonObject[] {
  return Array.isArray(list) ? list.map(asObject) : [];
}

interface Voice {
  isSung(part: JsonObject): boolean;
  /** `lines` is empty for a part that has no words left. */
  sing(part: JsonObject, lines: readonly string[]): JsonObject;
}

/** Assigns the verses in their order to the sung parts of the plan, or to all parts where none is sung. */
function sung(parts: readonly JsonObject[], lyrics: string, { isSung, sing }: Voice): JsonObject[] {
  const singing = parts.some(isSung) ? parts.filter(isSung) : parts;
  const verses = dealt(versesOf(lyrics), singing.length);
  return parts.map((part) => (singing.includes(part) ? sing(part, verses[singing.indexOf(part)] ?? []) : part));
}

/** Splits lyrics at empty lines and labels; a label belongs to the lines after it. */
function versesOf(lyrics: string): string[][] {
  const verses: string[][] = [[]];
  for (const line of lyrics.split(/\r?\n/).map((text) => text.trim())) {
    const last = verses.at(-1) ?? [];
    if ((line === "" || isLabel(line)) && last.some((text) => !isLabel(text))) verses.push(line === "" ? [] : [line]);
    else if (line !== "") last.push(line);
  }
  return verses.filter((verse) => verse.length > 0);
}

/**
 * A group of lines for each part: halves the longest verses, or joins neighbours. Returns fewer groups where there are
 * few lines.
 */
function dealt(verses: readonly (readonly string[])[], count: number): string[][] {
  const chunks = verses.map((verse) => [...verse]);
  while (chunks.length < count) {
    const longest = chunks.reduce(
      (best, chunk, index) => (chunk.length > (chunks[best]?.length ?? 0) ? index : best),
      0,
    );
    const section = chunks[longest] ?? [];
    if (section.length < HALVED_LINES_MIN) break;
    const middle = Math.ceil(section.length / 2);
    chunks.splice(longest, 1, section.slice(0, middle), section.slice(middle));
  }
  const groups = Math.min(count, chunks.length);
  const from = (group: number): number => Math.floor((group * chunks.length) / groups);
  return Array.from({ length: groups }, (_, group) => chunks.slice(from(group), from(group + 1)).flat());
}

function isSungChunk({ text }: JsonObject): boolean {
  return linesOf(text).some((line) => !isLabel(line) && !isDirection(line));
}

/** Names, directions and words are all lines of a chunk's text. */
function singChunk(chunk: JsonObject, lines: readonly string[]): JsonObject {
  const own = linesOf(chunk["text"]);
  if (lines.length === 0) return { ...chunk, text: [SILENT, ...own.filter(isDirection)].join("\n") };
  const words = lines.flatMap((line) => (isLabel(line) ? labelled(nameOf(line)) : wrapped(line)));
  if (words.length > LINES_MAX) throw tooMuch(`${LINES_MAX} lines to a chunk`);
  const label = own.find(isLabel);
  const keepsOwn = label !== undefined && !isLabel(words[0] ?? "") && words.length < LINES_MAX;
  return { ...chunk, text: [...(keepsOwn ? labelled(nameOf(label)) : []), ...words].join("\n") };
}

function isSungSection({ lines }: JsonObject): boolean {
  return Array.isArray(lines) && lines.length > 0;
}

function singSection(section: JsonObject, lines: readonly string[]): JsonObject {
  const name = nameOf(lines.find(isLabel) ?? "");
  const words = lines.filter((line) => !isLabel(line)).flatMap(wrapped);
  if (words.length > LINES_MAX) throw tooMuch(`${LINES_MAX} lines to a section`);
  return { ...section, ...(name === "" ? {} : { section_name: name }), lines: words };
}

/** The name in a label, cut to the longest allowed; empty where there is none. */
function nameOf(label: string): string {
  return label.slice(1, -1).trim().slice(0, NAME_LENGTH_MAX).trim();
}

/** A name has at least one character. */
function labelled(name: string): string[] {
  return name === "" ? [] : [`[${name}]`];
}

/** Cuts a line between words, if it has several. */
function wrapped(line: string): string[] {
  if (line.length <= LINE_LENGTH_MAX) return [line];
  const space = line.lastIndexOf(" ", LINE_LENGTH_MAX);
  const end = space > 0 ? space : LINE_LENGTH_MAX;
  return [line.slice(0, end), ...wrapped(line.slice(end).trim())];
}

function linesOf(text: unknown): string[] {
  if (typeof text !== "string") return [];
  return text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

function isLabel(line: string): boolean {
  return /^\[[^\]]*\]$/.test(line);
}

function isDirection(line: string): boolean {
  return /^\{[^}]*\}$/.test(line);
}

function tooMuch(limit: string): ProviderFailure {
  return new ProviderFailure("invalid_input", `The lyrics do not fit the plan of the track: it takes ${limit}.`, {
    billable: "no",
  });
}
