import { asObject, isObject, type MusicRequest, type ProviderModel } from "../sdk/index.js";
import { ACE_STEP } from "./ace-step-workflow.js";
import { placeholdersIn, type Value, type Workflow, workflowIn } from "./workflow.js";

/** `options` of a model; other members are for `{{options.NAME}}`. */
export interface ModelOptions {
  readonly workflow: Workflow;
  /** The node that saves the tracks. */
  readonly output: string;
  /** The node that saves lossless copies of them. */
  readonly master?: string;
}

/** Values of placeholders that neither the request nor the model's options give. */
const DEFAULTS = { bpm: 120, key: "C major", language: "en", negative_prompt: "" } as const;

const KNOWN = ["prompt", "lyrics", "duration", "seed", "instrumental", "model", "job_id", "attempt_id"];

/** The lyrics of an instrumental. */
const INSTRUMENTAL = "[Instrumental]";

/** The issue of a model that an operator configured; null when there is none. */
export function modelIssue(model: ProviderModel): string | null {
  const { options = {}, requestOptions = {}, upstream, supportsLyrics, duration } = model;
  const invalid = Object.keys(options).find((name) => !MEMBERS.has(name) && !isValue(options[name]));
  if (invalid !== undefined) return `has options.${invalid}; allowed: text, numbers, booleans`;
  if (options["workflow"] === undefined) {
    const alone = ["output", "master"].find((name) => options[name] !== undefined);
    if (alone !== undefined) return `has options.${alone} without options.workflow`;
  }
  const workflow = workflowIn(options["workflow"] ?? ACE_STEP.workflow);
  if (typeof workflow === "string") return `has another options.workflow: ${workflow}`;
  const names = placeholdersIn(workflow);
  const unknown = [...names].find((name) => !isKnown(name) && !Object.hasOwn(requestOptions, name));
  if (unknown !== undefined) return `has {{${unknown}}} in options.workflow; the README lists the placeholders`;
  const needed = ["prompt", "seed", ...(supportsLyrics ? ["lyrics"] : []), ...(duration === null ? [] : ["duration"])];
  const missing = [...needed, ...Object.keys(requestOptions)].find((name) => !names.has(name));
  if (missing !== undefined) return `has no {{${missing}}} in options.workflow`;
  // The server would skip every node of a repeated request with the same seed, and save no file.
  if (Object.hasOwn(requestOptions, "seed") && !names.has("attempt_id"))
    return "has requestOptions.seed, and no {{attempt_id}} in options.workflow, in the name of the file";
  if (names.has("model") && upstream === undefined) return "needs `upstream`: what {{model}} stands for";
  const { output, master } = options["workflow"] === undefined ? ACE_STEP : options;
  if (!isNodeOf(workflow, output)) return "needs options.output: the id of the node that saves the tracks";
  if (master === undefined || isNodeOf(workflow, master)) return null;
  return "has another options.master than the id of a node";
}

/** The options of a model without a {@link modelIssue}. */
export function optionsOf({ options }: Pick<ProviderModel, "options">): ModelOptions {
  const { workflow, output, master } = asObject(options);
  const own = workflow === undefined ? null : workflowIn(workflow);
  if (own === null || typeof own === "string") return ACE_STEP;
  return { workflow: own, output: idOf(output) ?? "", ...(master === undefined ? {} : { master: idOf(master) ?? "" }) };
}

/** The values of the placeholders. */
export function valuesOf(request: MusicRequest, seed: number): { readonly [name: string]: Value } {
  const { model, prompt, lyrics, durationSeconds, instrumental, jobId, attemptId } = request;
  const { requestOptions = {} } = model;
  const chosen = Object.entries(request.options).filter(([name]) => Object.hasOwn(requestOptions, name));
  const { options = {} } = model;
  const values: { [name: string]: Value } = { ...DEFAULTS };
  for (const [name, value] of Object.entries(options)) {
    if (!isValue(value)) continue;
    values[`options.${name}`] = value;
    if (Object.hasOwn(DEFAULTS, name)) values[name] = value;
  }
  return {
    ...values,
    seed,
    ...Object.fromEntries(chosen),
    prompt,
    lyrics: instrumental ? INSTRUMENTAL : (lyrics ?? ""),
    duration: durationSeconds ?? model.duration?.defaultSeconds ?? null,
    instrumental,
    model: model.upstream ?? null,
    job_id: jobId,
    attempt_id: attemptId,
  };
}

const MEMBERS: ReadonlySet<string> = new Set(["workflow", "output", "master"]);

function isKnown(name: string): boolean {
  return KNOWN.includes(name) || Object.hasOwn(DEFAULTS, name) || /^options\.\w[\w-]*$/.test(name);
}

function isNodeOf(workflow: Workflow, given: unknown): boolean {
  const id = idOf(given);
  return id !== null && isObject(workflow[id]);
}

/** In YAML, an id of digits is a number. */
function idOf(given: unknown): string | null {
  return typeof given === "string" || typeof given === "number" ? String(given) : null;
}

function isValue(value: unknown): value is string | number | boolean {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}
