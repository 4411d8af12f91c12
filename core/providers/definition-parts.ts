import { ASSET_CONTENT_TYPES } from "../ports/music-provider.js";
import { optionDeclarationMistakes } from "./option-declarations.js";
import { isHostPattern } from "./outgoing-rule.js";

type Bag = Readonly<Record<string, unknown>>;

const TYPES = ["string", "integer", "boolean"];
/** What `plugins.<id>` means for every plugin. */
const TAKEN_SETTINGS: ReadonlySet<string> = new Set(["enabled", "use", "models", "maxInFlight", "allowHosts"]);
const SECRET_NAME = /(api-?key|token|secret|password|credential)s?$/i;
const LYRICS_MAX_LENGTH = 10_000;
const PROMPT_MAX_LENGTH = 3_000;
const RENDER_DEADLINE_MAX_MINUTES = 10_080;
const USUAL_RENDER_MAX_SECONDS = 86_400;
const LONGEST_CALL_MIN_MS = 1_000;
const LONGEST_CALL_MAX_MS = 24 * 3_600_000;

export function settingMistakes(settings: unknown): string[] {
  if (!isBag(settings)) return [`settings: ${shown(settings)}; allowed: an object, a member for each setting`];
  return Object.entries(settings).flatMap(([name, setting]) => {
    const at = `settings.${name}`;
    if (!isBag(setting)) return [`${at}: ${shown(setting)}; allowed: { type, description, … }`];
    const mistakes: string[] = [];
    if (!/^[a-z][a-zA-Z0-9]*$/.test(name))
      mistakes.push(`${at}: its name is not in camelCase; allowed: letters and digits, the first one small`);
    if (TAKEN_SETTINGS.has(name)) mistakes.push(`${at}: the name is taken: plugins.<id>.${name} is the host's own`);
    if (!TYPES.includes(setting["type"] as string)) mistakes.push(`${at}.type: ${shown(setting["type"])}; allowed: ${TYPES.join(", ")}`);
    if (!isText(setting["description"])) mistakes.push(`${at}.description: missing; operators read it`);
    if (SECRET_NAME.test(name) && setting["type"] === "string" && setting["secret"] !== true)
      mistakes.push(`${at}: it is named like a secret; allowed: secret: true, or another name`);
    if (setting["secret"] === true && setting["default"] !== undefined) mistakes.push(`${at}.default: a secret has none`);
    if (setting["required"] === true && setting["default"] !== undefined) mistakes.push(`${at}: what is required has no default`);
    mistakes.push(...defaultMistakes(at, setting));
    return mistakes;
  });
}

function defaultMistakes(at: string, { type, default: value, allowed, minimum, maximum }: Bag): string[] {
  const mistakes: string[] = [];
  const isOrdered = typeof minimum !== "number" || typeof maximum !== "number" || minimum <= maximum;
  if (!isOrdered) mistakes.push(`${at}: minimum ${shown(minimum)} is above maximum ${shown(maximum)}`);
  if (value === undefined) return mistakes;
  const fits = type === "integer" ? Number.isSafeInteger(value) : typeof value === type;
  if (!fits) mistakes.push(`${at}.default: ${shown(value)}; allowed: of type ${shown(type)}`);
  if (Array.isArray(allowed) && !allowed.includes(value)) mistakes.push(`${at}.default: ${shown(value)}; allowed: ${allowed.join(", ")}`);
  if (typeof value === "number" && typeof minimum === "number" && value < minimum)
    mistakes.push(`${at}.default: ${value}; allowed: from ${minimum}`);
  if (typeof value === "number" && typeof maximum === "number" && value > maximum)
    mistakes.push(`${at}.default: ${value}; allowed: up to ${maximum}`);
  return mistakes;
}

/** @param provider whose id the models' ids begin with; null when that is wrong itself */
export function modelMistakes(models: unknown, provider: string | null): string[] {
  if (!Array.isArray(models)) return [`models: ${shown(models)}; allowed: a list, empty for a plugin that only splits`];
  const seen = new Set<unknown>();
  return models.flatMap((model: unknown, index) => {
    const at = `models[${index}]`;
    if (!isBag(model)) return [`${at}: ${shown(model)}; allowed: a model`];
    const { id } = model;
    const mistakes = oneModelMistakes(at, model);
    if (!isText(id) || !/^[a-z0-9][a-z0-9._-]*\/[a-z0-9][a-z0-9._-]*$/.test(id) || id.length > 100) {
      mistakes.push(`${at}.id: ${shown(id)}; allowed: <provider>/<name> in lower case, at most 100 characters`);
    } else if (provider !== null && !id.startsWith(`${provider}/`)) mistakes.push(`${at}.id: ${shown(id)}; allowed: ${provider}/<name>`);
    if (seen.has(id)) mistakes.push(`${at}.id: ${shown(id)} is there twice`);
    seen.add(id);
    return mistakes;
  });
}

function oneModelMistakes(at: string, model: Bag): string[] {
  const { name, creditCost, supportsLyrics, supportsInstrumental, requiresLyrics, lyricsMaxLength, promptMaxLength, upstreamCost } = model;
  const mistakes: string[] = [];
  if (!isText(name)) mistakes.push(`${at}.name: ${shown(name)}; allowed: a name to be shown`);
  if (!isWhole(creditCost, 0)) mistakes.push(`${at}.creditCost: ${shown(creditCost)}; allowed: a whole number of credits`);
  if (typeof supportsLyrics !== "boolean") mistakes.push(`${at}.supportsLyrics: ${shown(supportsLyrics)}; allowed: true, false`);
  if (typeof supportsInstrumental !== "boolean")
    mistakes.push(`${at}.supportsInstrumental: ${shown(supportsInstrumental)}; allowed: true, false`);
  if (requiresLyrics === true && supportsLyrics !== true) mistakes.push(`${at}.requiresLyrics: true; allowed where supportsLyrics is true`);
  if (lyricsMaxLength !== undefined && !isWhole(lyricsMaxLength, 1, LYRICS_MAX_LENGTH))
    mistakes.push(`${at}.lyricsMaxLength: ${shown(lyricsMaxLength)}; allowed: 1 to ${LYRICS_MAX_LENGTH}`);
  if (promptMaxLength !== undefined && !isWhole(promptMaxLength, 1, PROMPT_MAX_LENGTH))
    mistakes.push(`${at}.promptMaxLength: ${shown(promptMaxLength)}; allowed: 1 to ${PROMPT_MAX_LENGTH}`);
  mistakes.push(
    ...timeMistakes(`${at}.renderDeadlineMinutes`, model["renderDeadlineMinutes"], RENDER_DEADLINE_MAX_MINUTES),
    ...timeMistakes(`${at}.usualRenderSeconds`, model["usualRenderSeconds"], USUAL_RENDER_MAX_SECONDS),
  );
  mistakes.push(...durationMistakes(`${at}.duration`, model["duration"]), ...costMistakes(`${at}.upstreamCost`, upstreamCost));
  mistakes.push(...optionDeclarationMistakes(`${at}.requestOptions`, model["requestOptions"]));
  if (!survivesJson(model)) mistakes.push(`${at}: it holds what JSON cannot carry; allowed: plain values`);
  return mistakes;
}

function timeMistakes(at: string, value: unknown, maximum: number): string[] {
  const isTime = value === undefined || (typeof value === "number" && value > 0 && value <= maximum);
  return isTime ? [] : [`${at}: ${shown(value)}; allowed: a number above 0, at most ${maximum}`];
}

function durationMistakes(at: string, duration: unknown): string[] {
  if (duration === null) return [];
  if (!isBag(duration)) return [`${at}: ${shown(duration)}; allowed: null, or { minSeconds, maxSeconds, defaultSeconds }`];
  const { minSeconds: min, maxSeconds: max, defaultSeconds: usual } = duration;
  if (!isWhole(min, 1) || !isWhole(max, 1) || !isWhole(usual, 1)) return [`${at}: ${shown(duration)}; allowed: whole seconds from 1`];
  return (min as number) <= (usual as number) && (usual as number) <= (max as number)
    ? []
    : [`${at}: ${shown(duration)}; allowed: minSeconds ≤ defaultSeconds ≤ maxSeconds`];
}

/** @param ms as declared, or as it comes of the settings */
export function longestCallMistakes(ms: unknown): string[] {
  if (isWhole(ms, LONGEST_CALL_MIN_MS, LONGEST_CALL_MAX_MS)) return [];
  const allowed = `a whole number of ms from ${LONGEST_CALL_MIN_MS} to ${LONGEST_CALL_MAX_MS}`;
  return [`longestCallMs: ${shown(ms)}; allowed: ${allowed}, or a function of the settings that gives one`];
}

/** @param hosts as declared, or as they come of the settings */
export function hostMistakes(hosts: unknown): string[] {
  if (!Array.isArray(hosts))
    return [`hosts: ${shown(hosts)}; allowed: a list of host names, or a function of the settings that gives one`];
  return hosts.flatMap((host: unknown) =>
    typeof host === "string" && isHostPattern(host)
      ? []
      : [`hosts: ${shown(host)}; allowed: api.example.com, *.cdn.example.com`],
  );
}

export function capabilityMistakes(capabilities: unknown): string[] {
  if (!isBag(capabilities))
    return [`capabilities: ${shown(capabilities)}; allowed: { idempotentSubmit, lookup, cancel, … }, or a function of the settings`];
  const mistakes = ["idempotentSubmit", "lookup", "cancel"].flatMap((name) =>
    typeof capabilities[name] === "boolean" ? [] : [`capabilities.${name}: ${shown(capabilities[name])}; allowed: true, false`],
  );
  const { callbacks = "none" } = capabilities;
  if (!["none", "hints", "signed"].includes(callbacks as string))
    mistakes.push(`capabilities.callbacks: ${shown(callbacks)}; allowed: none, hints, signed`);
  for (const name of ["stemSplit", "vocalRemoval"]) mistakes.push(...splitMistakes(`capabilities.${name}`, capabilities[name]));
  return mistakes;
}

function splitMistakes(at: string, split: unknown): string[] {
  if (split === undefined) return [];
  if (!isBag(split)) return [`${at}: ${shown(split)}; allowed: { sources, … }; left out where it cannot`];
  const { sources, contentTypes, maxBytes, maxSeconds, upstreamCost } = split;
  const mistakes: string[] = [];
  if (sources !== "any" && sources !== "own") mistakes.push(`${at}.sources: ${shown(sources)}; allowed: any, own`);
  const areKnown =
    contentTypes === undefined ||
    (Array.isArray(contentTypes) &&
      contentTypes.length > 0 &&
      contentTypes.every((type) => (ASSET_CONTENT_TYPES as readonly unknown[]).includes(type)));
  if (!areKnown) mistakes.push(`${at}.contentTypes: ${shown(contentTypes)}; allowed: ${ASSET_CONTENT_TYPES.join(", ")}`);
  for (const [name, value] of [
    ["maxBytes", maxBytes],
    ["maxSeconds", maxSeconds],
  ] as const) {
    if (value !== undefined && !isWhole(value, 1)) mistakes.push(`${at}.${name}: ${shown(value)}; allowed: a whole number from 1`);
  }
  return [...mistakes, ...costMistakes(`${at}.upstreamCost`, upstreamCost)];
}

function costMistakes(at: string, cost: unknown): string[] {
  if (cost === undefined) return [];
  const isCost =
    isBag(cost) && typeof cost["amount"] === "number" && Number.isFinite(cost["amount"]) && cost["amount"] >= 0 && isText(cost["unit"]);
  return isCost ? [] : [`${at}: ${shown(cost)}; allowed: { amount, unit }`];
}

function survivesJson(value: unknown): boolean {
  try {
    return isSame(value, JSON.parse(JSON.stringify(value)));
  } catch {
    return false;
  }
}

function isSame(one: unknown, other: unknown): boolean {
  if (typeof one !== "object" || one === null) return one === other;
  if (typeof other !== "object" || other === null || Array.isArray(one) !== Array.isArray(other)) return false;
  const [a, b] = [one as Bag, other as Bag];
  const names = Object.keys(a).filter((name) => a[name] !== undefined);
  return names.length === Object.keys(b).length && names.every((name) => isSame(a[name], b[name]));
}

function isBag(value: unknown): value is Bag {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "";
}

function isWhole(value: unknown, minimum: number, maximum = Number.MAX_SAFE_INTEGER): boolean {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= minimum && value <= maximum;
}

function shown(value: unknown): string {
  return value === undefined ? "missing" : (JSON.stringify(value) ?? typeof value);
}
