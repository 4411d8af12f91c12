import type { DeclaredSetting } from "../ports/declared-settings.js";
import type { ProviderCapabilities, ProviderDefinition, ProviderHost } from "../ports/music-provider.js";
import { isHostPattern } from "./outgoing-rule.js";
import { isObject, isText, isWhole, type JsonObject, shown } from "./plain-values.js";
import { sourceIssues } from "./source-declarations.js";

const COMMON = ["type", "description", "required", "secret", "default"];
/** What a setting of each type may have. */
const SETTING_MEMBERS: Readonly<Record<DeclaredSetting["type"], readonly string[]>> = {
  string: [...COMMON, "allowed", "canBeEmpty"],
  integer: [...COMMON, "minimum", "maximum"],
  boolean: COMMON,
};
const TYPES = Object.keys(SETTING_MEMBERS);
const CAPABILITIES = Object.keys({
  idempotentSubmit: true,
  lookup: true,
  lookupSettlesMs: true,
  cancel: true,
  callbacks: true,
  stemSplit: true,
  vocalRemoval: true,
} satisfies Record<keyof ProviderCapabilities, true>);
/** What `plugins.<id>` means for every plugin. */
export const TAKEN_SETTINGS: ReadonlySet<string> = new Set(["enabled", "use", "models", "maxInFlight", "allowHosts"]);
const SECRET_NAME = /(api-?key|token|secret|password|credential)s?$/i;
const LONGEST_CALL_MIN_MS = 1_000;
const LONGEST_CALL_MAX_MS = 24 * 3_600_000;
const LONGEST_CALL_MS = 20 * 60_000;

/** @param taken names that a setting cannot have, since they are the host's own under `plugins.<id>` */
export function settingIssues(settings: unknown, taken: ReadonlySet<string> = new Set()): string[] {
  if (!isObject(settings)) return [`settings: ${shown(settings)}; allowed: an object, a member for each setting`];
  return Object.entries(settings).flatMap(([name, setting]) => {
    const at = `settings.${name}`;
    if (!isObject(setting)) return [`${at}: ${shown(setting)}; allowed: { type, description, … }`];
    const issues: string[] = [];
    if (!/^[a-z][a-zA-Z0-9]*$/.test(name))
      issues.push(`${at}: its name is not in camelCase; allowed: letters and digits, the first one small`);
    if (taken.has(name)) issues.push(`${at}: the name is taken: plugins.<id>.${name} is the host's own`);
    if (!TYPES.includes(setting["type"] as string))
      issues.push(`${at}.type: ${shown(setting["type"])}; allowed: ${TYPES.join(", ")}`);
    if (!isText(setting["description"])) issues.push(`${at}.description: missing; operators read it`);
    if (SECRET_NAME.test(name) && setting["type"] === "string" && setting["secret"] !== true)
      issues.push(`${at}: it is named like a secret; allowed: secret: true, or another name`);
    if (setting["secret"] === true && setting["default"] !== undefined) issues.push(`${at}.default: a secret has none`);
    if (setting["required"] === true && setting["default"] !== undefined)
      issues.push(`${at}: what is required has no default`);
    issues.push(...defaultIssues(at, setting), ...settingMemberIssues(at, setting));
    return issues;
  });
}

/** Of a setting whose type is none nothing is said: what it may have is not known. */
function settingMemberIssues(at: string, setting: JsonObject): string[] {
  const type = String(setting["type"]);
  if (!Object.hasOwn(SETTING_MEMBERS, type)) return [];
  const known = SETTING_MEMBERS[type as DeclaredSetting["type"]];
  const issues = Object.keys(setting)
    .filter((name) => !known.includes(name))
    .map((name) => `${at}.${name}: not a member of this type; allowed: ${known.join(", ")}`);
  const { allowed } = setting;
  const isList = Array.isArray(allowed) && allowed.length > 0 && allowed.every((text) => typeof text === "string");
  if (type === "string" && allowed !== undefined && !isList)
    issues.push(`${at}.allowed: ${shown(allowed)}; allowed: a list of texts`);
  for (const name of ["required", "secret", ...(type === "string" ? ["canBeEmpty"] : [])])
    if (setting[name] !== undefined && typeof setting[name] !== "boolean")
      issues.push(`${at}.${name}: ${shown(setting[name])}; allowed: true, false`);
  for (const name of type === "integer" ? ["minimum", "maximum"] : [])
    if (setting[name] !== undefined && !Number.isFinite(setting[name]))
      issues.push(`${at}.${name}: ${shown(setting[name])}; allowed: a number`);
  return issues;
}

function defaultIssues(at: string, { type, default: value, allowed, minimum, maximum }: JsonObject): string[] {
  const issues: string[] = [];
  const isOrdered = typeof minimum !== "number" || typeof maximum !== "number" || minimum <= maximum;
  if (!isOrdered) issues.push(`${at}: minimum ${shown(minimum)} is above maximum ${shown(maximum)}`);
  if (value === undefined) return issues;
  const fits = type === "integer" ? Number.isSafeInteger(value) : typeof value === type;
  if (!fits) issues.push(`${at}.default: ${shown(value)}; allowed: of type ${shown(type)}`);
  if (Array.isArray(allowed) && !allowed.includes(value))
    issues.push(`${at}.default: ${shown(value)}; allowed: ${allowed.join(", ")}`);
  if (typeof value === "number" && typeof minimum === "number" && value < minimum)
    issues.push(`${at}.default: ${value}; allowed: from ${minimum}`);
  if (typeof value === "number" && typeof maximum === "number" && value > maximum)
    issues.push(`${at}.default: ${value}; allowed: up to ${maximum}`);
  return issues;
}

/** In milliseconds, of calls that send source audio and of the others. */
export interface LongestCalls {
  readonly withSource: number;
  readonly plain: number;
}

/** What a definition declares; 20 minutes where it declares nothing. */
export function longestCallsOf(
  { longestCallMs = LONGEST_CALL_MS }: Pick<ProviderDefinition, "longestCallMs">,
  settings: ProviderHost["settings"],
): LongestCalls {
  if (typeof longestCallMs !== "function") return { withSource: longestCallMs, plain: longestCallMs };
  return {
    withSource: longestCallMs(settings, { sendsSource: true }),
    plain: longestCallMs(settings, { sendsSource: false }),
  };
}

/** Of both; what is wrong with both alike is one issue. */
export function longestCallsIssues({ withSource, plain }: LongestCalls): string[] {
  return [...new Set([withSource, plain])].flatMap(longestCallIssues);
}

/** @param ms as declared, or as it comes of the settings */
export function longestCallIssues(ms: unknown): string[] {
  if (isWhole(ms, LONGEST_CALL_MIN_MS, LONGEST_CALL_MAX_MS)) return [];
  const allowed = `a whole number of ms from ${LONGEST_CALL_MIN_MS} to ${LONGEST_CALL_MAX_MS}`;
  return [`longestCallMs: ${shown(ms)}; allowed: ${allowed}, or a function of the settings that gives one`];
}

/** @param hosts as declared, or as they come of the settings */
export function hostIssues(hosts: unknown): string[] {
  if (!Array.isArray(hosts))
    return [`hosts: ${shown(hosts)}; allowed: a list of host names, or a function of the settings that gives one`];
  return hosts.flatMap((host: unknown) =>
    typeof host === "string" && isHostPattern(host)
      ? []
      : [`hosts: ${shown(host)}; allowed: api.example.com, *.cdn.example.com`],
  );
}

export function capabilityIssues(capabilities: unknown): string[] {
  if (!isObject(capabilities))
    return [
      `capabilities: ${shown(capabilities)}; allowed: { idempotentSubmit, lookup, cancel, … }, or a function of ` +
        `the settings`,
    ];
  const issues = ["idempotentSubmit", "lookup", "cancel"].flatMap((name) =>
    typeof capabilities[name] === "boolean"
      ? []
      : [`capabilities.${name}: ${shown(capabilities[name])}; allowed: true, false`],
  );
  const { callbacks = "none" } = capabilities;
  if (!["none", "hints", "signed"].includes(callbacks as string))
    issues.push(`capabilities.callbacks: ${shown(callbacks)}; allowed: none, hints, signed`);
  for (const name of ["stemSplit", "vocalRemoval"])
    issues.push(...sourceIssues(`capabilities.${name}`, capabilities[name]));
  const { lookupSettlesMs } = capabilities;
  if (lookupSettlesMs !== undefined && !isWhole(lookupSettlesMs, 0))
    issues.push(`capabilities.lookupSettlesMs: ${shown(lookupSettlesMs)}; allowed: a whole number of ms from 0`);
  for (const name of Object.keys(capabilities))
    if (!CAPABILITIES.includes(name))
      issues.push(`capabilities.${name}: there is no such capability; allowed: ${CAPABILITIES.join(", ")}`);
  return issues;
}
