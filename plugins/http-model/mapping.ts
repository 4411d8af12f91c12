import { isObject, parseJson, type ProviderModel } from "../sdk/index.js";
import { pointerIssue } from "./pointer.js";
import type { Host } from "./settings.js";
import { optionIssues, placeholdersIn, unknownPlaceholders } from "./template.js";

/** What a status word means here. */
export const MEANINGS = ["running", "completed", "failed", "cancelled", "timeout", "content_rejected", "gone"] as const;
export type Meaning = (typeof MEANINGS)[number];

const POINTERS = [
  "id",
  "status",
  "tracks",
  "audioUrl",
  "audioBase64",
  "title",
  "duration",
  "error",
  "errorCode",
] as const;

/** How a server's shape is read and written: the settings, checked. */
export interface Mapping {
  readonly baseUrl: string;
  readonly headers: { readonly [name: string]: string };
  readonly submitPath: string;
  readonly statusPath: string;
  /** null: it cannot be stopped. */
  readonly cancelPath: string | null;
  readonly request: object;
  readonly pointers: { readonly [name in (typeof POINTERS)[number]]: string };
  /** By their words in lower case. */
  readonly statusWords: ReadonlyMap<string, Meaning>;
  readonly rejectionCodes: ReadonlySet<string>;
  readonly callbacks: boolean;
  readonly pollMs: number;
  readonly timeoutMs: number;
}

type Settings = Host["settings"];

/** Names of settings that are texts. */
type TextName = { [Name in keyof Settings]: Settings[Name] extends string | undefined ? Name : never }[keyof Settings];

/**
 * @param models whose options the template of a request has placeholders for
 * @throws {Error} with a line for every invalid setting
 */
export function readMapping(settings: Settings, models: readonly ProviderModel[]): Mapping {
  const issues: string[] = [];
  const wrong = (name: keyof Settings, why: string): void =>
    void issues.push(`${name}: ${JSON.stringify(settings[name])}; ${why}`);
  const text = (name: TextName): string => (settings[name] ?? "").trim();

  const baseUrl = text("baseUrl").replace(/\/+$/, "");
  if (!URL.canParse(baseUrl) || !/^https?:/.test(baseUrl)) wrong("baseUrl", "allowed: an http or https URL");
  for (const name of ["submitPath", "statusPath", "cancelPath"] as const) {
    const isOmitted = name === "cancelPath" && text(name) === "";
    if (!isOmitted && !text(name).startsWith("/")) wrong(name, "allowed: a path that begins with /");
    const known = name === "submitPath" ? "model" : "id";
    const placeholders = placeholdersIn(text(name));
    const unknown = placeholders.filter((placeholder) => placeholder !== known);
    if (unknown.length > 0) wrong(name, `there is no {{${unknown.join("}}, {{")}}}; allowed: {{${known}}}`);
    if (known === "id" && !isOmitted && !placeholders.includes(known)) wrong(name, "allowed: a path with {{id}} in it");
  }
  for (const name of POINTERS) {
    const issue = pointerIssue(text(`${name}Pointer`));
    if (issue !== null) wrong(`${name}Pointer`, issue);
  }
  const request = readRequest(text("request"), models, (why) => wrong("request", why));
  const statusWords = readStatusWords(text("statusWords"), (why) => wrong("statusWords", why));
  const key = text("apiKey");
  const scheme = text("authScheme");
  if (!/^[!#$%&'*+.^`|~\w-]+$/.test(text("authHeader"))) wrong("authHeader", "allowed: the name of a header");
  if (issues.length > 0) throw new Error(issues.join("\n"));
  return {
    baseUrl,
    headers: key === "" ? {} : { [text("authHeader").toLowerCase()]: scheme === "" ? key : `${scheme} ${key}` },
    submitPath: text("submitPath"),
    statusPath: text("statusPath"),
    cancelPath: text("cancelPath") === "" ? null : text("cancelPath"),
    request,
    pointers: Object.fromEntries(POINTERS.map((name) => [name, text(`${name}Pointer`)])) as Mapping["pointers"],
    statusWords,
    rejectionCodes: new Set(
      text("rejectionCodes")
        .split(",")
        .map((code) => code.trim().toLowerCase())
        .filter((code) => code !== ""),
    ),
    callbacks: settings.callbacks,
    pollMs: settings.pollSeconds * 1_000,
    timeoutMs: settings.timeoutSeconds * 1_000,
  };
}

function readRequest(json: string, models: readonly ProviderModel[], wrong: (why: string) => void): object {
  const template = parseJson(json);
  if (typeof template !== "object" || template === null) {
    wrong("allowed: a JSON object, its placeholders inside quotation marks");
    return {};
  }
  const unknown = unknownPlaceholders(template);
  if (unknown.length > 0) wrong(`there is no {{${unknown.join("}}, {{")}}}; its README lists the placeholders`);
  for (const issue of optionIssues(template, models)) wrong(issue);
  return template;
}

function readStatusWords(json: string, wrong: (why: string) => void): Map<string, Meaning> {
  const words = parseJson(json);
  if (!isObject(words)) {
    wrong('allowed: a JSON object such as {"done":"completed"}');
    return new Map();
  }
  const invalid = Object.entries(words).filter(([, meaning]) => !MEANINGS.includes(meaning as Meaning));
  if (invalid.length > 0) wrong(`${invalid.map(([word]) => word).join(", ")}: allowed: ${MEANINGS.join(", ")}`);
  for (const needed of ["running", "completed"])
    if (!Object.values(words).includes(needed)) wrong(`no word means ${needed}`);
  return new Map(Object.entries(words).map(([word, meaning]) => [word.toLowerCase(), meaning as Meaning]));
}
