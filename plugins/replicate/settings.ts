import { apiKey, baseUrl, defineSettings, jsonObject, pollMs, timeoutMs } from "../sdk/index.js";
import type { ModelInputs, ProviderHost } from "../sdk/index.js";
import { isVersion, SPLIT_MODEL } from "./models.js";

export const SETTINGS = defineSettings({
  apiKey: apiKey("API token of replicate.com (Account settings, API tokens)"),
  baseUrl: baseUrl("https://api.replicate.com/v1"),
  timeoutMs: timeoutMs(30_000),
  uploadTimeoutMs: timeoutMs(300_000, { maximum: 3_600_000, description: "How long the upload of a track may take" }),
  pollMs: pollMs(2_000),
  cancelAfterSeconds: {
    type: "integer",
    minimum: 5,
    maximum: 86_400,
    description: "Replicate ends work that takes longer: a guard against cost; none by default",
  },
  splits: { type: "boolean", default: true, description: "Split tracks with splitModel" },
  splitModel: {
    type: "string",
    default: SPLIT_MODEL,
    description: "Separator: owner/name, with :version for models of the community",
  },
  splitAudioInput: { type: "string", default: "audio", description: "Its input that takes the URL of the track" },
  splitVocalsInput: {
    type: "string",
    default: "stem",
    description: "Its input that, set to vocals, limits its output to vocals and the rest",
  },
  splitInputs: { type: "string", default: '{"output_format":"mp3"}', description: "Its other inputs, as JSON text" },
});

export type Host = ProviderHost<typeof SETTINGS>;

/** The separator; null: splits are switched off. */
export type Separator = {
  readonly version: string;
  readonly audioInput: string;
  readonly vocalsInput: string;
  readonly inputs: ModelInputs;
} | null;

/** @throws {Error} naming the invalid setting */
export function separatorOf(settings: Host["settings"]): Separator {
  const { splits, splitModel: version, splitAudioInput: audioInput, splitVocalsInput: vocalsInput } = settings;
  if (!isVersion(version)) {
    const allowed = "owner/name, owner/name:<version of 64 hex digits>, or the version alone";
    throw new Error(`splitModel: ${version}; allowed: ${allowed}`);
  }
  const inputs = jsonObject("splitInputs", settings.splitInputs, '{"output_format":"mp3"}');
  return splits ? { version, audioInput, vocalsInput, inputs } : null;
}
