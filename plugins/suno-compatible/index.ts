import { defineProvider, PROVIDER_PORT_VERSION } from "../sdk/index.js";
import type { ProviderModel } from "../sdk/index.js";
import { CURRENT_MODELS, DIALECTS, EARLIER_MODELS } from "./dialects.js";
import { CUSTOM_OPTIONS } from "./map.js";
import { SunoProvider } from "./provider.js";
import { SETTINGS } from "./settings.js";

/** The description is sent as `style`, which is no longer with any model. */
const PROMPT_MAX_LENGTH = 1_000;

/** Models that take a duration; left out, it is 20 seconds there. */
const TIMED_MODELS = [...CURRENT_MODELS, "V5_5"];
const UNTIMED_MODELS = EARLIER_MODELS.filter((name) => !TIMED_MODELS.includes(name));
const DURATION = { minSeconds: 10, maxSeconds: 360, defaultSeconds: 180 };

const MODEL = {
  supportsLyrics: true,
  supportsInstrumental: true,
  duration: null,
  lyricsMaxLength: 5_000,
  promptMaxLength: 500,
};
const V6 = { ...MODEL, creditCost: 12, duration: DURATION, promptMaxLength: PROMPT_MAX_LENGTH };

/** Resellers of Suno, which has no public API of its own. */
export default defineProvider({
  id: "suno-compatible",
  label: "Suno-compatible",
  portVersion: PROVIDER_PORT_VERSION,
  concurrency: 4,
  longestCallMs: ({ timeoutMs }) => timeoutMs,
  // Where the dialects have their own base.
  hosts: Object.values(DIALECTS).map(({ baseUrl }) => new URL(baseUrl).hostname),
  settings: SETTINGS,
  models: [
    { ...V6, id: "suno-compatible/v6", name: "Suno V6", upstream: "V6" },
    { ...V6, id: "suno-compatible/v6-wild", name: "Suno V6 Wild", upstream: "V6_WILD" },
    { ...V6, id: "suno-compatible/v6-mini", name: "Suno V6 Mini", upstream: "V6_MINI" },
    // The style of this one is the shortest.
    {
      ...MODEL,
      id: "suno-compatible/v4",
      name: "Suno V4",
      creditCost: 10,
      upstream: "V4",
      lyricsMaxLength: 3_000,
      promptMaxLength: 200,
    },
    { ...MODEL, id: "suno-compatible/v4.5", name: "Suno V4.5", creditCost: 10, upstream: "V4_5" },
    { ...MODEL, id: "suno-compatible/v4.5-plus", name: "Suno V4.5 Plus", creditCost: 10, upstream: "V4_5PLUS" },
    { ...MODEL, id: "suno-compatible/v4.5-all", name: "Suno V4.5 All", creditCost: 10, upstream: "V4_5ALL" },
    { ...MODEL, id: "suno-compatible/v5", name: "Suno V5", creditCost: 12, upstream: "V5" },
    { ...MODEL, id: "suno-compatible/v5.5", name: "Suno V5.5", creditCost: 12, upstream: "V5_5", duration: DURATION },
  ],
  offersModel: ({ upstream }, { dialect }) => DIALECTS[dialect].models.includes(upstream ?? ""),
  checkModel,
  capabilities: ({ dialect, webhookKey }) => ({
    idempotentSubmit: false,
    lookup: false,
    cancel: false,
    callbacks: DIALECTS[dialect].signs && webhookKey !== undefined ? "signed" : "hints",
    stemSplit: { sources: "own" },
    vocalRemoval: { sources: "own" },
  }),
  create: (host) => new SunoProvider(host),
});

function checkModel({ upstream, duration, promptMaxLength, options = {} }: ProviderModel): string | null {
  if (upstream === undefined) return "needs `upstream`: the vendor's name of the model, such as V5";
  const { minSeconds, maxSeconds } = DURATION;
  if (duration === null && TIMED_MODELS.includes(upstream))
    return `needs a \`duration\` within ${minSeconds} to ${maxSeconds} seconds: left out, it is 20 there`;
  if (duration !== null && UNTIMED_MODELS.includes(upstream))
    return "has a `duration`; allowed: null, the length is the model's own";
  if (duration !== null && (duration.minSeconds < minSeconds || duration.maxSeconds > maxSeconds))
    return `has a \`duration\` outside ${minSeconds} to ${maxSeconds} seconds`;
  if (promptMaxLength === undefined || promptMaxLength > PROMPT_MAX_LENGTH)
    return `needs a \`promptMaxLength\` of at most ${PROMPT_MAX_LENGTH}`;
  const unknown = Object.keys(options).find((name) => !(CUSTOM_OPTIONS as readonly string[]).includes(name));
  if (unknown !== undefined) return `has options.${unknown}; allowed: ${CUSTOM_OPTIONS.join(", ")}`;
  const { negativeTags, vocalGender, styleWeight, weirdnessConstraint } = options;
  if (negativeTags !== undefined && typeof negativeTags !== "string") return "has options.negativeTags that is no text";
  if (vocalGender !== undefined && vocalGender !== "m" && vocalGender !== "f")
    return "has another options.vocalGender than m, f";
  const odd = Object.entries({ styleWeight, weirdnessConstraint }).find(
    ([, weight]) => weight !== undefined && !isWeight(weight),
  );
  return odd === undefined ? null : `has another options.${odd[0]} than 0 to 1 with two decimals`;
}

function isWeight(value: unknown): boolean {
  return typeof value === "number" && value >= 0 && value <= 1 && Number(value.toFixed(2)) === value;
}
