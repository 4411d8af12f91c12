import type { JsonObject, ProviderModel } from "../sdk/index.js";

/** `options` of a model. */
export interface ModelOptions {
  /** The planner writes the melody first: better, and slower. */
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
  vocalLanguage: ["a code such as de, or unknown", (value) => typeof value === "string" && /^[a-z-]{2,7}$/.test(value)],
};

/** What is wrong with a model of the operator's; null when nothing is. */
export function modelIssue({ upstream, requiresLyrics, supportsLyrics, options = {} }: ProviderModel): string | null {
  if (upstream === undefined) return "needs `upstream`: the server's name of the model, such as acestep-v15-turbo";
  if (supportsLyrics && requiresLyrics !== true)
    return "needs `requiresLyrics: true`: without lyrics ACE-Step sings nothing";
  for (const [name, value] of Object.entries(options)) {
    if (!isKnown(name)) return `has options.${name}; allowed: ${Object.keys(ALLOWED).join(", ")}`;
    const [what, isAllowed] = ALLOWED[name];
    if (!isAllowed(value)) return `has options.${name}: ${JSON.stringify(value)}; allowed: ${what}`;
  }
  return null;
}

/** Of a model that {@link modelIssue} found nothing wrong with. */
export function optionsOf({ options = {} }: { readonly options?: JsonObject }): ModelOptions {
  return options;
}

function isKnown(name: string): name is keyof ModelOptions {
  return Object.hasOwn(ALLOWED, name);
}

function isWithin(value: unknown, low: number, high: number): boolean {
  return typeof value === "number" && value >= low && value <= high;
}
