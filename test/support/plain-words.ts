import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";

export interface PrivateWord {
  readonly word: string;
  /** Matched line by line, with camelCase split: `isToldOf` is `is Told Of`. */
  readonly pattern: RegExp;
  readonly instead: string;
  /** Only a TypeScript identifier of exactly this name is meant, not the word in prose. */
  readonly isIdentifier?: boolean;
}

/** Words that this project once used in a sense of its own, and the field's terms for them. */
export const PRIVATE_WORDS: readonly PrivateWord[] = [
  { word: "answer", pattern: /\banswer\b/, instead: "response or result", isIdentifier: true },
  { word: "mistake", pattern: /\bmistakes?\b/i, instead: "issue or validation error" },
  { word: "bag", pattern: /\bbag Of\b|\bBag\b/, instead: "JsonObject or asObject" },
  { word: "piece", pattern: /\bpieces?\b/i, instead: "track or chunk" },
  { word: "whoever", pattern: /\bwhoever\b/i, instead: "the actor: caller, worker, client, operator" },
  { word: "nobody", pattern: /\bnobody\b/i, instead: "no and the actor: no caller, no worker, no other process" },
  { word: "somebody", pattern: /\bsomebody\b/i, instead: "the actor: caller, worker, client, operator" },
  { word: "anybody", pattern: /\banybody\b/i, instead: "the actor: caller, worker, client, operator" },
  { word: "bell", pattern: /\b(door)?bells?\b/i, instead: "notification" },
  { word: "shelf", pattern: /\b(shelf|shelves)\b/i, instead: "search partition, or library fixture" },
  { word: "examine", pattern: /\bexamin(e|es|ed|ing)\b/i, instead: "check" },
  { word: "judge", pattern: /\bjudg(e|es|ed|ing)\b/i, instead: "classify or check" },
  { word: "mend", pattern: /\bmend(s|ed|ing)?\b/i, instead: "fix" },
  { word: "ask after", pattern: /\bask(s|ed|ing)?[- ]after\b/i, instead: "poll" },
  { word: "break off", pattern: /\b(break|breaks|breaking|broke|broken)[- ]off\b/i, instead: "abort or interrupt" },
  { word: "told", pattern: /\btold\b/i, instead: "notified, reported or configured" },
  { word: "powers", pattern: /\bpowers\b/i, instead: "capabilities" },
  { word: "beside", pattern: /\bbeside\b/i, instead: "alongside or next to" },
  { word: "anew", pattern: /\banew\b/i, instead: "again" },
  { word: "hand back", pattern: /\bhand(s|ed|ing)?( it| them)?[- ]back\b/i, instead: "release or return" },
  { word: "take apart", pattern: /\b(take|takes|taking|took|taken)( it| them)?[- ]apart\b/i, instead: "split" },
  { word: "stand-in", pattern: /\b[Ss]tand(-in|-In| In)s?\b/, instead: "fallback" },
  { word: "housekeeping", pattern: /\bhousekeeping\b/i, instead: "maintenance" },
  { word: "wish", pattern: /\bwish(es|ed)?\b/i, instead: "demand" },
  { word: "stumble", pattern: /\bstumbl(e|es|ed|ing)\b/i, instead: "fail unexpectedly or crash" },
  { word: "leaps", pattern: /\bleaps\b/i, instead: "index skip scan" },
  { word: "traveller", pattern: /\btravellers?\b/i, instead: "batch entry" },
  { word: "out of reach", pattern: /\bout[- ]of[- ]reach\b/i, instead: "unavailable" },
  { word: "storm", pattern: /\bstorms?\b/i, instead: "chaos test" },
  { word: "racer", pattern: /\bracers?\b/i, instead: "race harness" },
  { word: "workshop", pattern: /\bworkshops?\b/i, instead: "worker harness" },
  { word: "logbook", pattern: /\blogbooks?\b/i, instead: "recording provider" },
];

export interface Allowed {
  /** Of the path in the repository. */
  readonly file: RegExp;
  /** Of the line; every line by default. */
  readonly line?: RegExp;
  /** Of {@link PRIVATE_WORDS}; null for all. */
  readonly words: readonly string[] | null;
  readonly why: string;
}

/** Where one of these words is the right one. */
export const ALLOWED_WORDS: readonly Allowed[] = [
  { file: /^test\/(support\/plain-words|architecture\/plain-words\.test)\.ts$/, words: null, why: "lists the words" },
  { file: /^plugins\/synth\//, words: ["bell", "piece"], why: "an instrument; a composition" },
  { file: /^test\/(plugins|bench)\/synth/, words: ["bell", "piece"], why: "an instrument; a composition" },
  { file: /\/migrations\//, words: ["shelf"], why: "a column of the database" },
  {
    file: /^(adapters\/storage|test\/(adapters|bench|system|unit\/storage))\//,
    // Code only: comments call it a partition.
    line: /^(?!\s*(\/?\*|\/\/)).*\bshelf\b/,
    words: ["shelf"],
    why: "a column of the database",
  },
  { file: /./, line: /standIns|STAND_INS/, words: ["stand-in"], why: "the old name of a setting, still accepted" },
  { file: /./, line: /["'`.]mend\b|\bmend[?]?:/, words: ["mend"], why: "the old name of a member of JSON" },
  {
    file: /^(adapters|test\/system)\/cli\/plugins(\.test)?\.ts$/,
    line: /\bmistakes\b/,
    words: ["mistake"],
    why: "the old name of a member of JSON",
  },
  { file: /^README\.md$/, line: /\[Verse\]/, words: ["nobody"], why: "lyrics of a song" },
];

export interface PrivateWordUse {
  readonly file: string;
  readonly line: number;
  readonly word: PrivateWord;
}

const FOLDERS = ["core", "adapters", "plugins", "config", "test", ".github"];
const IGNORED =
  /(^|\/)(generated|node_modules|fixtures)\/|(^|\/)(CHANGELOG|THIRD-PARTY-NOTICES|LICEN[CS]E[^/]*)(\.md)?$/;

/** The TypeScript and Markdown files of a checkout, except generated ones, fixtures, licences and the changelog. */
export function proseAndCode(root: string): readonly string[] {
  const below = FOLDERS.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1)),
  );
  return [...below, "README.md"].filter((file) => /\.(tsx?|md)$/.test(file) && !IGNORED.test(file)).sort();
}

/** The private words in a file of this path and text. */
export function privateWordsIn(file: string, text: string): readonly PrivateWordUse[] {
  const allowed = ALLOWED_WORDS.filter((entry) => entry.file.test(file));
  const lines = text.split("\n");
  const prose = PRIVATE_WORDS.filter(({ isIdentifier = false }) => !isIdentifier);
  const found = lines.flatMap((line, index) => {
    const words = line.replace(/([a-z0-9])([A-Z])/g, "$1 $2").replaceAll("_", " ");
    return prose.filter(({ pattern }) => pattern.test(words)).map((word) => ({ file, line: index + 1, word }));
  });
  const names = PRIVATE_WORDS.filter(({ isIdentifier = false, pattern }) => isIdentifier && pattern.test(text));
  if (names.length > 0 && /\.tsx?$/.test(file)) found.push(...identifiersIn(file, text, names));
  return found.filter((use) => !allowed.some((entry) => allows(entry, use, lines[use.line - 1] ?? "")));
}

function allows({ line, words }: Allowed, { word }: PrivateWordUse, text: string): boolean {
  return (words === null || words.includes(word.word)) && (line === undefined || line.test(text));
}

function identifiersIn(file: string, text: string, names: readonly PrivateWord[]): PrivateWordUse[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest);
  const found: PrivateWordUse[] = [];
  const visit = (node: ts.Node): void => {
    const word = ts.isIdentifier(node) ? names.find((name) => name.word === node.text) : undefined;
    if (word !== undefined) {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart(source));
      found.push({ file, line: line + 1, word });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** The private words in the prose and code of a checkout. */
export function privateWordsBelow(root: string): readonly PrivateWordUse[] {
  return proseAndCode(root).flatMap((file) => privateWordsIn(file, readFileSync(join(root, file), "utf8")));
}
