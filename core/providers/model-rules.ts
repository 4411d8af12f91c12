import { MODEL_LIMITS as LIMITS, type ProviderModel } from "../ports/music-provider.js";
import { optionDeclarationIssues } from "./option-declarations.js";
import { referenceDeclarationIssues } from "./source-declarations.js";
import { COST, isCost, isObject, isText, isWhole, type JsonObject, shown, survivesJson } from "./plain-values.js";

type Rule = { readonly isOptional?: true } & (
  | { readonly allowed: string; holds(value: unknown): boolean }
  /** A line for each part that is wrong. */
  | { issuesOf(name: string, value: unknown): string[] }
);

const MODEL_ID = /^[a-z0-9][a-z0-9._-]*\/[a-z0-9][a-z0-9._-]*$/;

const FLAG = { allowed: "true, false", holds: (value: unknown) => typeof value === "boolean" };
const WHOLE_CREDITS = { allowed: "a whole number of credits", holds: (value: unknown) => isWhole(value, 0) };
const upTo = (maximum: number) => ({
  allowed: `1 to ${maximum}`,
  holds: (value: unknown) => isWhole(value, 1, maximum),
});
const above0 = (maximum: number) => ({
  allowed: `a number above 0, at most ${maximum}`,
  holds: (value: unknown) => typeof value === "number" && value > 0 && value <= maximum,
});

/** What each member of a model may be: the one place where that is stated, for plugins and for config. */
const RULES: Readonly<Record<keyof ProviderModel, Rule>> = {
  id: {
    allowed: `<provider>/<name> in lower case, at most ${LIMITS.idLength} characters`,
    holds: isModelId,
  },
  name: {
    allowed: `a name to be shown, at most ${LIMITS.nameLength} characters`,
    holds: (value) => isText(value) && [...value].length <= LIMITS.nameLength,
  },
  creditCost: WHOLE_CREDITS,
  supportsLyrics: FLAG,
  supportsInstrumental: FLAG,
  requiresLyrics: { ...FLAG, isOptional: true },
  duration: {
    allowed:
      `null, or whole seconds from 1 to ${LIMITS.durationSeconds} with ` +
      "minSeconds ≤ defaultSeconds ≤ maxSeconds and no other member",
    holds: isDuration,
  },
  lyricsMaxLength: { ...upTo(LIMITS.lyricsLength), isOptional: true },
  promptMaxLength: { ...upTo(LIMITS.promptLength), isOptional: true },
  upstream: { allowed: "the provider's name of the model", holds: isText, isOptional: true },
  upstreamCost: { allowed: COST, holds: isCost, isOptional: true },
  renderDeadlineMinutes: { ...above0(LIMITS.renderDeadlineMinutes), isOptional: true },
  usualRenderSeconds: { ...above0(LIMITS.usualRenderSeconds), isOptional: true },
  requestOptions: {
    issuesOf: optionDeclarationIssues,
    isOptional: true,
  },
  references: { issuesOf: referenceDeclarationIssues, isOptional: true },
  options: { allowed: "an object of plain values", holds: isObject, isOptional: true },
};

/** Everything that is wrong with a list of models, a line each. @param provider begins their ids; null: not checked */
export function modelIssues(models: unknown, provider: string | null): string[] {
  if (!Array.isArray(models)) return [`models: ${shown(models)}; allowed: a list, empty for a plugin that only splits`];
  const seen = new Set<unknown>();
  return models.flatMap((model: unknown, index) => {
    const at = `models[${index}]`;
    if (!isObject(model)) return [`${at}: ${shown(model)}; allowed: a model`];
    const { id } = model;
    const issues = oneModelIssues(model).map((issue) => `${at}.${issue}`);
    if (isModelId(id) && provider !== null && !id.startsWith(`${provider}/`))
      issues.push(`${at}.id: ${shown(id)}; allowed: ${provider}/<name>`);
    if (seen.has(id)) issues.push(`${at}.id: ${shown(id)} is there twice`);
    seen.add(id);
    if (!survivesJson(model)) issues.push(`${at}: it holds what JSON cannot carry; allowed: plain values`);
    return issues;
  });
}

/** What is wrong with one model, a line each, beginning with the member's name. */
export function oneModelIssues(model: JsonObject): string[] {
  const issues = Object.entries(RULES).flatMap(([name, rule]) => memberIssues(name, rule, model[name]));
  issues.push(...Object.keys(model).flatMap((name) => (ruleOf(name) === null ? [unknownMember(name)] : [])));
  if (model["requiresLyrics"] === true && model["supportsLyrics"] === false)
    issues.push("requiresLyrics: true; allowed where supportsLyrics is true");
  return issues;
}

/** What is wrong with the members of a model that are given, where the others are the plugin's own. */
export function givenMemberIssues(members: JsonObject): string[] {
  return Object.entries(members).flatMap(([name, value]) => {
    const rule = ruleOf(name);
    return rule === null ? [unknownMember(name)] : memberIssues(name, { ...rule, isOptional: true }, value);
  });
}

function ruleOf(name: string): Rule | null {
  return Object.hasOwn(RULES, name) ? RULES[name as keyof ProviderModel] : null;
}

function unknownMember(name: string): string {
  return `${name}: a model has no such member; allowed: ${Object.keys(RULES).join(", ")}`;
}

function memberIssues(name: string, rule: Rule, value: unknown): string[] {
  if (value === undefined && rule.isOptional === true) return [];
  if ("issuesOf" in rule) return rule.issuesOf(name, value);
  return rule.holds(value) ? [] : [`${name}: ${shown(value)}; allowed: ${rule.allowed}`];
}

function isModelId(value: unknown): value is string {
  return typeof value === "string" && MODEL_ID.test(value) && value.length <= LIMITS.idLength;
}

function isDuration(value: unknown): boolean {
  if (value === null) return true;
  if (!isObject(value)) return false;
  const { minSeconds, defaultSeconds, maxSeconds, ...others } = value;
  if (Object.keys(others).length > 0 || !isWhole(maxSeconds, 1, LIMITS.durationSeconds)) return false;
  return isWhole(minSeconds, 1) && isWhole(defaultSeconds, minSeconds, maxSeconds);
}
