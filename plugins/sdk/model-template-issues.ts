import { type ProviderModel, REFERENCE_MODES, type ReferenceMode } from "../../core/ports/music-provider.js";
import { isObject, type JsonObject } from "./json.js";

const NAMES = ["prompt", "lyrics", "duration", "output"] as const;
const INPUTS = ["fixed", "instrumental", "wordless"] as const;
const SHARED: readonly string[] = [...NAMES, ...INPUTS, "durationUnit", "inputs"];
const KNOWN: readonly string[] = [...SHARED, "references"];

const MODE_NAMES = ["upstream", "source", "total", "from", "to"] as const;
const MODE_KNOWN: readonly string[] = [...MODE_NAMES, ...SHARED, "wholeSeconds", "strength"];

/** Limits of all models of one provider. */
export interface HostedModels {
  /** The issue of an upstream model name; null when there is none. */
  upstreamIssue(upstream: string): string | null;
  /** Largest track that is sent to the provider when it cannot fetch it. */
  readonly sentMaxBytes: number;
}

/** The issue of a model's `options` as an {@link InputTemplate}; null when there is none. */
export function inputTemplateIssue(model: ProviderModel, hosted?: HostedModels): string | null {
  const { options = {}, supportsLyrics, duration } = model;
  const issue = membersIssue("options", options, KNOWN);
  if (issue !== null) return issue;
  if (options["prompt"] === undefined)
    return "options.prompt: missing; allowed: the model's input that takes the prompt";
  if (supportsLyrics && options["lyrics"] === undefined)
    return "options.lyrics: missing; a model that supports lyrics has an input for them";
  if (duration !== null && options["duration"] === undefined)
    return "options.duration: missing; a model with a duration has an input for it";
  const missing = missingInput("options", options["inputs"], model);
  return missing ?? referencesIssue(model, options["references"], hosted);
}

/** Checks the members that the templates of a model and of a mode share. */
function membersIssue(at: string, members: JsonObject, known: readonly string[]): string | null {
  const unknown = Object.keys(members).find((name) => !known.includes(name));
  if (unknown !== undefined) return `${at}.${unknown}: there is no such option; allowed: ${known.join(", ")}`;
  const unnamed = NAMES.find((name) => !isNameOrOmitted(members[name]));
  if (unnamed !== undefined) return `${at}.${unnamed}: allowed: a name`;
  const noInputs = INPUTS.find((name) => members[name] !== undefined && !isObject(members[name]));
  if (noInputs !== undefined) return `${at}.${noInputs}: allowed: inputs of the model, each with its value`;
  const { durationUnit, inputs = {} } = members;
  if (durationUnit !== undefined && durationUnit !== "s" && durationUnit !== "ms")
    return `${at}.durationUnit: allowed: s, ms`;
  if (!isObject(inputs) || Object.values(inputs).some((name) => typeof name !== "string" || name === ""))
    return `${at}.inputs: allowed: request options, each with the name of its input`;
  return null;
}

/** Operators may remove a request option and leave its input: that is allowed. */
function missingInput(at: string, inputs: unknown, { requestOptions = {} }: ProviderModel): string | null {
  const missing = Object.keys(requestOptions).find((name) => !isObject(inputs) || !Object.hasOwn(inputs, name));
  return missing === undefined ? null : `${at}.inputs.${missing}: missing; a request option has an input for it`;
}

/** Operators may remove a mode and leave its template: that is allowed. */
function referencesIssue(model: ProviderModel, templates: unknown = {}, hosted?: HostedModels): string | null {
  if (!isObject(templates)) return "options.references: allowed: modes, each with its inputs";
  for (const [mode, template] of Object.entries(templates)) {
    if (!isMode(mode))
      return `options.references.${mode}: there is no such mode; allowed: ${REFERENCE_MODES.join(", ")}`;
    if (!isObject(template)) return `options.references.${mode}: allowed: an object that has at least \`source\``;
    const at = `options.references.${mode}`;
    const issue = modeIssue(at, mode, template, model) ?? upstreamIssue(at, template, hosted);
    if (issue !== null) return issue;
  }
  const declared = REFERENCE_MODES.filter((mode) => model.references?.[mode] !== undefined);
  for (const mode of declared) {
    const template = templates[mode];
    if (!isObject(template)) return `options.references.${mode}: missing; a mode of \`references\` has its inputs here`;
    const issue = declaredIssue(mode, template, model, hosted);
    if (issue !== null) return issue;
  }
  return null;
}

function modeIssue(at: string, mode: ReferenceMode, template: JsonObject, model: ProviderModel): string | null {
  const issue = membersIssue(at, template, MODE_KNOWN);
  if (issue !== null) return issue;
  const unnamed = MODE_NAMES.find((name) => !isNameOrOmitted(template[name]));
  if (unnamed !== undefined) return `${at}.${unnamed}: allowed: a name`;
  if (template["source"] === undefined) return `${at}.source: missing; allowed: the model's input that takes the track`;
  const { from, to, duration, total, wholeSeconds, strength } = template;
  if (mode === "inpaint" && (from === undefined || to === undefined))
    return `${at}: needs \`from\` and \`to\`, the inputs that take what is replaced`;
  if (mode !== "extend" && total !== undefined) return `${at}.total: goes with extend alone`;
  if (mode === "extend" && model.duration !== null && duration === undefined && total === undefined)
    return `${at}: needs \`duration\` or \`total\`; a model with a duration has an input for it`;
  if (wholeSeconds !== undefined && typeof wholeSeconds !== "boolean")
    return `${at}.wholeSeconds: allowed: true, false`;
  if (strength !== undefined && !isStrength(strength))
    return `${at}.strength: allowed: { input, none, all }: the input, and what it takes for 0 and for 1`;
  return template["inputs"] === undefined ? null : missingInput(at, template["inputs"], model);
}

function upstreamIssue(at: string, { upstream }: JsonObject, hosted?: HostedModels): string | null {
  const issue = typeof upstream === "string" ? (hosted?.upstreamIssue(upstream) ?? null) : null;
  return issue === null ? null : `${at}.upstream: ${issue}`;
}

/** An issue between a declared mode and its template or its provider. */
function declaredIssue(
  mode: ReferenceMode,
  { strength }: JsonObject,
  { references = {} }: ProviderModel,
  hosted?: HostedModels,
): string | null {
  const { takesStrength, needsUrl, maxBytes = Infinity } = references[mode] ?? {};
  if (takesStrength === true && strength === undefined)
    return `options.references.${mode}.strength: missing; \`takesStrength\` needs an input for it`;
  if (hosted !== undefined && needsUrl !== true && maxBytes > hosted.sentMaxBytes)
    return `references.${mode}: needs \`maxBytes\` of at most ${hosted.sentMaxBytes}, or \`needsUrl: true\``;
  return null;
}

function isNameOrOmitted(value: unknown): boolean {
  return value === undefined || (typeof value === "string" && value !== "");
}

function isStrength(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { input, none = 0, all = 1, ...others } = value;
  const isNamed = typeof input === "string" && input !== "";
  return isNamed && Number.isFinite(none) && Number.isFinite(all) && Object.keys(others).length === 0;
}

function isMode(mode: string): mode is ReferenceMode {
  return (REFERENCE_MODES as readonly string[]).includes(mode);
}
