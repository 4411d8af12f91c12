import { defineProvider, PROVIDER_PORT_VERSION, STANDARD_OPTIONS } from "../sdk/index.js";
import type { ProviderModel, RequestOptions } from "../sdk/index.js";
import { CURRENT_MODELS, DIALECTS, EARLIER_MODELS } from "./dialects.js";
import { SunoProvider } from "./provider.js";
import { referencesUpTo } from "./references.js";
import { SETTINGS } from "./settings.js";

/** The description is sent as `style`, which is no longer with any model. */
const PROMPT_MAX_LENGTH = 1_000;

/** Models that take a duration; left out, it is 20 seconds there. */
const TIMED_MODELS = [...CURRENT_MODELS, "V5_5"];
const UNTIMED_MODELS = EARLIER_MODELS.filter((name) => !TIMED_MODELS.includes(name));
const DURATION = { minSeconds: 10, maxSeconds: 360, defaultSeconds: 180 };

/** Both are sent in the vendors' custom mode alone. */
const REQUEST_OPTIONS: RequestOptions = {
  negative_prompt: {
    ...STANDARD_OPTIONS.negative_prompt,
    maxLength: 1_000,
    description: "What the music should not be like. With lyrics or for an instrumental only.",
  },
  vocal_gender: {
    ...STANDARD_OPTIONS.vocal_gender,
    description: "Voice of the singer, as a preference. With lyrics only.",
  },
};

/** Of a track to work from. */
const SOURCE_MAX_SECONDS = 480;
const SOURCE_MAX_SECONDS_V4_5ALL = 60;

const MODEL = {
  supportsLyrics: true,
  supportsInstrumental: true,
  duration: null,
  lyricsMaxLength: 5_000,
  promptMaxLength: 500,
  requestOptions: REQUEST_OPTIONS,
  references: referencesUpTo(SOURCE_MAX_SECONDS),
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
    {
      ...MODEL,
      id: "suno-compatible/v4.5-all",
      name: "Suno V4.5 All",
      creditCost: 10,
      upstream: "V4_5ALL",
      references: referencesUpTo(SOURCE_MAX_SECONDS_V4_5ALL),
    },
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

function checkModel(model: ProviderModel): string | null {
  const { upstream, promptMaxLength, requestOptions = {}, references = {} } = model;
  if (upstream === undefined) return "needs `upstream`: the vendor's name of the model, such as V5";
  const issue = durationIssue(upstream, model.duration);
  if (issue !== null) return issue;
  if (promptMaxLength === undefined || promptMaxLength > PROMPT_MAX_LENGTH)
    return `needs a \`promptMaxLength\` of at most ${PROMPT_MAX_LENGTH}`;
  const unknown = Object.keys(requestOptions).find((name) => !Object.hasOwn(REQUEST_OPTIONS, name));
  if (unknown !== undefined)
    return `has requestOptions.${unknown}; allowed: ${Object.keys(REQUEST_OPTIONS).join(", ")}`;
  if (references.inpaint !== undefined) return "has references.inpaint; allowed: extend, cover";
  return optionsIssue(model.options ?? {});
}

function durationIssue(upstream: string, duration: ProviderModel["duration"]): string | null {
  const { minSeconds, maxSeconds } = DURATION;
  if (duration === null)
    return TIMED_MODELS.includes(upstream)
      ? `needs a \`duration\` within ${minSeconds} to ${maxSeconds} seconds: left out, it is 20 there`
      : null;
  if (UNTIMED_MODELS.includes(upstream)) return "has a `duration`; allowed: null, the length is the model's own";
  return duration.minSeconds < minSeconds || duration.maxSeconds > maxSeconds
    ? `has a \`duration\` outside ${minSeconds} to ${maxSeconds} seconds`
    : null;
}

/** The setting that replaces an option which callers choose now. */
const REPLACED: Readonly<Record<string, string>> = {
  negativeTags: "{ negative_prompt: { default: metal } }",
  vocalGender: "{ vocal_gender: { default: female } }",
};

function optionsIssue(options: NonNullable<ProviderModel["options"]>): string | null {
  const { styleWeight, weirdnessConstraint, ...others } = options;
  const [other] = Object.keys(others);
  if (other !== undefined && Object.hasOwn(REPLACED, other))
    return `has options.${other}; it is a request option now: requestOptions: ${REPLACED[other] ?? ""}`;
  if (other !== undefined) return `has options.${other}; allowed: styleWeight, weirdnessConstraint`;
  const invalid = Object.entries({ styleWeight, weirdnessConstraint }).find(
    ([, weight]) => weight !== undefined && !isWeight(weight),
  );
  return invalid === undefined ? null : `has another options.${invalid[0]} than 0 to 1 with two decimals`;
}

function isWeight(value: unknown): boolean {
  return typeof value === "number" && value >= 0 && value <= 1 && Number(value.toFixed(2)) === value;
}
