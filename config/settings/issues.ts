import { environmentName, type GivenSetting } from "./definition.js";
import { MASK, isSecretName, redactText } from "../../adapters/observability/redact.js";
import { printable } from "../../core/printable.js";

/** Settings that cannot be used. `lines` holds every issue, a line each; secrets are masked. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
  constructor(readonly lines: readonly string[]) {
    super(titled(lines));
  }
}

/** What was never given is not called wrong. */
function titled(lines: readonly string[]): string {
  const what = lines.every((line) => MISSING.test(line)) ? "missing" : "wrong";
  const all = lines.join("\n");
  return lines.length === 1 ? `A setting is ${what}: ${all}` : `${lines.length} settings are ${what}:\n${all}`;
}

const MISSING = /^[^ ]+: missing;/;

const SHOWN_LENGTH_MAX = 80;

/** A value that is not allowed. `origin`: the file or environment variable; null for a default. */
export function refusedLine(
  path: string,
  origin: string | null,
  given: unknown,
  allowed: string,
  isSecret: boolean,
): string {
  const where = printable(origin === null ? path : `${path} (${origin})`);
  if (given === undefined) return missingLine(path, allowed);
  return `${where}: ${shown(path, given, isSecret)} is not allowed; allowed: ${allowed}`;
}

/**
 * What is wrong within a value, after its path and origin.
 *
 * @param issue begins with the place within: `[0].creditCost: 2.5; allowed: a whole number of credits`
 */
export function innerLine(path: string, origin: string | null, issue: string): string {
  const start = issue.indexOf(": ");
  const end = issue.lastIndexOf("; allowed: ");
  const [given, allowed] = end < start ? [issue.slice(start + 2), ""] : [issue.slice(start + 2, end), issue.slice(end)];
  const where = `${path}${issue.slice(0, start)}${origin === null ? "" : ` (${origin})`}`;
  return printable(`${where}: ${shortened(given)}${allowed}`);
}

/** What a value that has to be a text is instead, by its type alone; null: it is a text. */
export function notText({ value, isText }: Pick<GivenSetting, "value" | "isText">): string | null {
  if (isText || typeof value === "string" || value === undefined) return null;
  if (value === null) return "There is no value";
  if (typeof value === "object") return `The value is a ${Array.isArray(value) ? "list" : "group of settings"}`;
  return `The value is a ${typeof value}: a text that looks like one needs quotes there`;
}

/** What `adapters check` takes in place of settings. */
const ARGUMENT = /^(--|options\.)/;

/** A setting that is not given although it has to be: with the variable that may give it. */
export function missingLine(path: string, allowed: string): string {
  const remedy = ARGUMENT.test(path) ? "" : `set it, or ${environmentName(path.split("."))}; `;
  return `${path}: missing; ${remedy}allowed: ${allowed}`;
}

/** A name that means nothing. */
export function unknownLine(path: string, origin: string, known: readonly string[]): string {
  const nearest = nearestOf(path, known);
  // The name is from outside: it may hold line breaks, or what a terminal obeys.
  const where = printable(path === origin ? path : `${path} (${origin})`);
  return `${where}: unknown setting${nearest === null ? "" : `; did you mean ${nearest}?`}`;
}

function shown(path: string, given: unknown, isSecret: boolean): string {
  if (isSecret || path.split(".").some(isSecretName)) return MASK;
  return shortened(JSON.stringify(given) ?? String(given));
}

function shortened(given: string): string {
  const text = withoutUser(redactText(given));
  return text.length > SHOWN_LENGTH_MAX ? `${text.slice(0, SHOWN_LENGTH_MAX)}…` : text;
}

/** What is refused may be a malformed URL: all that stands before its host could be a password. */
function withoutUser(text: string): string {
  const at = text.lastIndexOf("@");
  if (at < 0) return text;
  const [start] = /^"?(?:[a-z][a-z0-9+.-]*:)?(?:\/\/)?/i.exec(text) ?? [""];
  return start + MASK + text.slice(at);
}

/** The known name that takes the fewest changes of a letter; null when none is near. */
export function nearestOf(name: string, known: readonly string[]): string | null {
  let nearest: string | null = null;
  let fewest = Math.max(2, Math.floor(name.length / 4)) + 1;
  for (const candidate of known) {
    // Each letter more or less is a change: a name of any length is compared with few.
    if (Math.abs(candidate.length - name.length) >= fewest) continue;
    const changes = changesBetween(name, candidate);
    if (changes < fewest) [nearest, fewest] = [candidate, changes];
  }
  return nearest;
}

/** Levenshtein's distance. */
export function changesBetween(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let i = 1; i <= left.length; i++) {
    const next = [i];
    for (let j = 1; j <= right.length; j++) {
      const replaced = (row[j - 1] as number) + (left[i - 1] === right[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return row[right.length] as number;
}
