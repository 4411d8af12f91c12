import { type RequestOption, STANDARD_OPTIONS } from "../ports/music-provider.js";
import { allowedValues, OPTION_NAME, OPTIONS_MAX, takesValue } from "./request-options.js";

type Members = Readonly<Record<string, unknown>>;

const TEXT_MAX_LENGTH = 3_000;
const DESCRIPTION_MAX_LENGTH = 500;
const ALLOWED_MAX = 100;
const ALLOWED_MAX_LENGTH = 100;
const ALLOWED_LISTS = `${ALLOWED_MAX} different strings at most, of 1 to ${ALLOWED_MAX_LENGTH} characters each`;

const MEMBERS: Readonly<Record<RequestOption["type"], readonly string[]>> = {
  integer: ["type", "description", "minimum", "maximum", "default"],
  number: ["type", "description", "minimum", "maximum", "default"],
  string: ["type", "description", "minLength", "maxLength", "allowed", "default"],
  boolean: ["type", "description", "default"],
};

/**
 * Everything that is wrong with the options that a model declares, a line each.
 *
 * @param at where they are declared, such as `models[0].requestOptions`
 * @param options as declared, of any type
 */
export function optionDeclarationIssues(at: string, options: unknown): string[] {
  if (options === undefined) return [];
  if (!isObject(options)) return [`${at}: ${shown(options)}; allowed: an object, a member for each option`];
  const names = Object.keys(options);
  if (names.length > OPTIONS_MAX) return [`${at}: ${names.length} options; allowed: at most ${OPTIONS_MAX}`];
  return names.flatMap((name) => issuesOf(`${at}.${name}`, name, options[name]));
}

function issuesOf(at: string, name: string, option: unknown): string[] {
  if (!OPTION_NAME.test(name))
    return [`${at}: its name is not in lower snake case; allowed: up to 40 letters, digits and _`];
  if (!isObject(option)) return [`${at}: ${shown(option)}; allowed: { type, description, … }`];
  const { type, description } = option;
  const known = Object.hasOwn(MEMBERS, String(type)) ? MEMBERS[type as RequestOption["type"]] : undefined;
  if (known === undefined) return [`${at}.type: ${shown(type)}; allowed: ${Object.keys(MEMBERS).join(", ")}`];
  const issues = Object.keys(option)
    .filter((member) => !known.includes(member))
    .map((member) => `${at}.${member}: not a member of this type; allowed: ${known.join(", ")}`);
  if (typeof description !== "string" || description.trim() === "" || [...description].length > DESCRIPTION_MAX_LENGTH)
    issues.push(`${at}.description: ${shown(description)}; allowed: 1 to ${DESCRIPTION_MAX_LENGTH} characters`);
  issues.push(...(type === "string" ? textIssues(at, option) : type === "boolean" ? [] : boundIssues(at, option)));
  if (issues.length > 0) return issues;
  return [...standardIssues(at, name, option as RequestOption), ...defaultIssues(at, name, option as RequestOption)];
}

function boundIssues(at: string, { type, minimum, maximum }: Members): string[] {
  const isBound = (value: unknown): boolean =>
    type === "integer" ? Number.isSafeInteger(value) : Number.isFinite(value);
  const allowed = type === "integer" ? "a whole number" : "a number";
  const issues: string[] = [];
  if (!isBound(minimum)) issues.push(`${at}.minimum: ${shown(minimum)}; allowed: ${allowed}`);
  if (!isBound(maximum)) issues.push(`${at}.maximum: ${shown(maximum)}; allowed: ${allowed}`);
  if (issues.length === 0 && (minimum as number) > (maximum as number))
    issues.push(`${at}.maximum: ${shown(maximum)}; allowed: from minimum, ${shown(minimum)}, up`);
  return issues;
}

function textIssues(at: string, { minLength = 0, maxLength, allowed }: Members): string[] {
  const isLength = (value: unknown): value is number =>
    Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= TEXT_MAX_LENGTH;
  const issues: string[] = [];
  if (allowed !== undefined) {
    const isList =
      Array.isArray(allowed) &&
      allowed.length > 0 &&
      allowed.length <= ALLOWED_MAX &&
      new Set(allowed).size === allowed.length;
    if (!isList || !(allowed as unknown[]).every(isAllowedValue))
      issues.push(`${at}.allowed: ${shown(allowed)}; allowed: ${ALLOWED_LISTS}`);
  } else if (maxLength === undefined) {
    issues.push(`${at}.maxLength: missing; allowed: up to ${TEXT_MAX_LENGTH}, or a list of \`allowed\` values`);
  }
  if (maxLength !== undefined && !isLength(maxLength))
    issues.push(`${at}.maxLength: ${shown(maxLength)}; allowed: up to ${TEXT_MAX_LENGTH}`);
  if (!isLength(minLength) || (isLength(maxLength) && minLength > maxLength))
    issues.push(`${at}.minLength: ${shown(minLength)}; allowed: from 0 to maxLength`);
  return issues;
}

function isAllowedValue(value: unknown): boolean {
  if (typeof value !== "string" || !value.isWellFormed()) return false;
  const length = [...value].length;
  return length >= 1 && length <= ALLOWED_MAX_LENGTH;
}

/** A standard name has its type and bounds in every plugin: a declaration may only be narrower. */
function standardIssues(at: string, name: string, option: RequestOption): string[] {
  if (!Object.hasOwn(STANDARD_OPTIONS, name)) return [];
  const standard: RequestOption = STANDARD_OPTIONS[name as keyof typeof STANDARD_OPTIONS];
  if (option.type !== standard.type)
    return [`${at}.type: ${shown(option.type)}; allowed: ${standard.type}, as in every plugin`];
  return widerIssues(at, name, option, standard);
}

/**
 * Where an option takes what another of its type does not, a line each.
 *
 * @param widest the most that it may take
 */
export function widerIssues(at: string, name: string, option: RequestOption, widest: RequestOption): string[] {
  if (option.type === "string" && widest.type === "string") return widerTextIssues(at, name, option, widest);
  if (option.type === "boolean" || option.type === "string" || widest.type === "boolean" || widest.type === "string")
    return [];
  const { minimum, maximum } = widest;
  return (["minimum", "maximum"] as const).flatMap((member) =>
    option[member] < minimum || option[member] > maximum
      ? [`${at}.${member}: ${option[member]}; allowed: ${minimum} to ${maximum}`]
      : [],
  );
}

type TextOption = RequestOption & { readonly type: "string" };

function widerTextIssues(at: string, name: string, option: TextOption, widest: TextOption): string[] {
  if (option.allowed !== undefined) {
    const wrong = option.allowed.filter((value) => !takesValue(name, widest, value));
    return wrong.map((value) => `${at}.allowed: ${shown(value)}; allowed: ${allowedValues(name, widest)}`);
  }
  if (widest.allowed !== undefined) return [`${at}.allowed: missing; allowed: some of ${widest.allowed.join(", ")}`];
  const { minLength = 0, maxLength = TEXT_MAX_LENGTH } = widest;
  const issues: string[] = [];
  if ((option.minLength ?? 0) < minLength)
    issues.push(`${at}.minLength: ${option.minLength ?? 0}; allowed: from ${minLength}`);
  if ((option.maxLength ?? 0) > maxLength)
    issues.push(`${at}.maxLength: ${shown(option.maxLength)}; allowed: up to ${maxLength}`);
  return issues;
}

function defaultIssues(at: string, name: string, option: RequestOption): string[] {
  if (option.default === undefined || takesValue(name, option, option.default)) return [];
  return [`${at}.default: ${shown(option.default)}; allowed: ${allowedValues(name, option)}`];
}

function isObject(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function shown(value: unknown): string {
  return value === undefined ? "missing" : (JSON.stringify(value) ?? typeof value);
}
