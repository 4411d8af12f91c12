import { defineProvider, PROVIDER_PORT_VERSION, STANDARD_OPTIONS } from "../sdk/index.js";
import type { ProviderModel } from "../sdk/index.js";
import { ENDPOINTS } from "./map.js";
import { StabilityProvider } from "./provider.js";
import { referencesIssue, referencesOf } from "./references.js";
import { SETTINGS } from "./settings.js";

const MODEL = {
  supportsLyrics: false,
  supportsInstrumental: true,
  promptMaxLength: 3_000,
  // 0 means a random one there.
  requestOptions: { seed: { ...STANDARD_OPTIONS.seed, minimum: 1, maximum: 4_294_967_294 } },
};

const OLDER = { ...MODEL, creditCost: 12, duration: { minSeconds: 1, maxSeconds: 190, defaultSeconds: 190 } };
const OLDER_OPTIONS = { endpoint: "stable-audio-2" };

/** One credit is 0.01 USD. */
const cost = (amount: number): { readonly amount: number; readonly unit: string } => ({ amount, unit: "credits" });

const AT_2 = referencesOf("stable-audio-2", cost(20));

/** Bounds of `options.steps` by model; of another model they are not known. */
const STEPS: Readonly<Record<string, readonly [least: number, most: number]>> = {
  "stable-audio-3": [4, 8],
  "stable-audio-2.5": [4, 8],
  "stable-audio-2": [30, 100],
};
const ANY_STEPS = [4, 100] as const;

/** One API with two kinds of models: the older ones respond with the music, Stable Audio 3 is polled. */
export default defineProvider({
  id: "stability",
  label: "Stability AI",
  portVersion: PROVIDER_PORT_VERSION,
  concurrency: 4,
  longestCallMs: ({ timeoutMs }) => timeoutMs,
  hosts: [],
  settings: SETTINGS,
  models: [
    {
      ...MODEL,
      id: "stability/stable-audio-3",
      name: "Stable Audio 3",
      creditCost: 15,
      duration: { minSeconds: 1, maxSeconds: 380, defaultSeconds: 190 },
      upstream: "stable-audio-3",
      upstreamCost: cost(26),
      options: { endpoint: "stable-audio" },
      references: referencesOf("stable-audio", cost(26)),
    },
    {
      ...OLDER,
      id: "stability/stable-audio-2.5",
      name: "Stable Audio 2.5",
      upstream: "stable-audio-2.5",
      upstreamCost: cost(20),
      options: OLDER_OPTIONS,
      references: AT_2,
    },
    // 17 credits, and 0.06 for each of the usual 50 steps.
    {
      ...OLDER,
      id: "stability/stable-audio-2",
      name: "Stable Audio 2",
      upstream: "stable-audio-2",
      upstreamCost: cost(20),
      options: OLDER_OPTIONS,
      references: { cover: AT_2.cover },
    },
  ],
  checkModel,
  capabilities: { idempotentSubmit: false, lookup: false, cancel: false },
  create: (host) => new StabilityProvider(host),
});

function checkModel(model: ProviderModel): string | null {
  const { upstream, supportsLyrics, options = {} } = model;
  const { endpoint, steps, cfgScale, ...others } = options;
  if (upstream === undefined) return "needs `upstream`: Stability's name of the model, such as stable-audio-3";
  if (supportsLyrics) return "supports lyrics; Stable Audio sings none";
  if (!(ENDPOINTS as readonly unknown[]).includes(endpoint))
    return `needs options.endpoint; allowed: ${ENDPOINTS.join(", ")}`;
  const [least, most] = STEPS[upstream] ?? ANY_STEPS;
  if (steps !== undefined && !isBetween(steps, least, most, true))
    return `has another options.steps than a whole number from ${least} to ${most}`;
  if (cfgScale !== undefined && !isBetween(cfgScale, 1, 25, false))
    return "has another options.cfgScale than a number from 1 to 25";
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) return `has options.${unknown}; allowed: endpoint, steps, cfgScale`;
  return referencesIssue(model);
}

function isBetween(value: unknown, minimum: number, maximum: number, whole: boolean): boolean {
  return typeof value === "number" && value >= minimum && value <= maximum && (!whole || Number.isInteger(value));
}
