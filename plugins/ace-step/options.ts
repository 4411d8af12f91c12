import { STANDARD_OPTIONS } from "../sdk/index.js";
import type { JsonObject, MusicRequest, OptionValues, ProviderModel, RequestOptions } from "../sdk/index.js";
import { referencesIssue } from "./references.js";

/** Languages of lyrics that the model knows. */
const LANGUAGES = (
  "ar az bg bn ca cs da de el en es fa fi fr he hi hr ht hu id is it ja ko la lt ms ne nl no " +
  "pa pl pt ro ru sa sk sr sv sw ta te th tl tr uk ur vi yue zh"
).split(" ");

/** The request options. For a missing one the planner decides, or the server's default applies. */
export const REQUEST_OPTIONS = {
  seed: STANDARD_OPTIONS.seed,
  bpm: { ...STANDARD_OPTIONS.bpm, minimum: 30 },
  key: STANDARD_OPTIONS.key,
  language: { ...STANDARD_OPTIONS.language, allowed: LANGUAGES, description: "Language of the lyrics; en by default." },
} as const satisfies RequestOptions;

/** The caller's values of the options that the model declares. */
export function chosenOf({ model: { requestOptions = {} }, options }: MusicRequest): OptionValues {
  return Object.fromEntries(Object.entries(options).filter(([name]) => Object.hasOwn(requestOptions, name)));
}

/** `options` of a model. */
export interface ModelOptions {
  /** The planner LM writes the melody first: better and slower. */
  readonly thinking?: boolean;
  readonly inferenceSteps?: number;
  readonly guidanceScale?: number;
  readonly shift?: number;
  /** Language of the lyrics, as a code such as `de`; the server's own default is `en`. */
  readonly vocalLanguage?: string;
}

const ALLOWED: Readonly<Record<keyof ModelOptions, readonly [what: string, isAllowed: (value: unknown) => boolean]>> = {
  thinking: ["true, false", (value) => typeof value === "boolean"],
  inferenceSteps: ["a whole number from 1 to 200", (value) => Number.isSafeInteger(value) && isWithin(value, 1, 200)],
  guidanceScale: ["a number from 0 to 30", (value) => isWithin(value, 0, 30)],
  shift: ["a number from 0 to 10", (value) => isWithin(value, 0, 10)],
  vocalLanguage: ["a code such as de, or unknown", (value) => [...LANGUAGES, "unknown"].includes(String(value))],
};

/** The issue of a model that an operator configured; null when there is none. */
export function modelIssue(model: ProviderModel): string | null {
  const { upstream, requiresLyrics, supportsLyrics, options = {}, requestOptions = {} } = model;
  if (upstream === undefined) return "needs `upstream`: the server's name of the model, such as acestep-v15-turbo";
  if (supportsLyrics && requiresLyrics !== true)
    return "needs `requiresLyrics: true`: without lyrics ACE-Step sings nothing";
  const unknown = Object.keys(requestOptions).find((name) => !Object.hasOwn(REQUEST_OPTIONS, name));
  if (unknown !== undefined)
    return `has requestOptions.${unknown}; allowed: ${Object.keys(REQUEST_OPTIONS).join(", ")}`;
  for (const [name, value] of Object.entries(options)) {
    if (!isKnown(name)) return `has options.${name}; allowed: ${Object.keys(ALLOWED).join(", ")}`;
    const [what, isAllowed] = ALLOWED[name];
    if (!isAllowed(value)) return `has options.${name}: ${JSON.stringify(value)}; allowed: ${what}`;
  }
  return referencesIssue(model);
}

/** The options of a model without a {@link modelIssue}. */
export function optionsOf({ options = {} }: { readonly options?: JsonObject }): ModelOptions {
  return options;
}

function isKnown(name: string): name is keyof ModelOptions {
  return Object.hasOwn(ALLOWED, name);
}

function isWithin(value: unknown, low: number, high: number): boolean {
  return typeof value === "number" && value >= low && value <= high;
}
