import { apiKey, baseUrl, defineSettings, jsonObject, pollMs, timeoutMs } from "../sdk/index.js";
import type { ModelInputs, ProviderHost } from "../sdk/index.js";
import { isEndpoint } from "./models.js";

export const SETTINGS = defineSettings({
  apiKey: apiKey("API key of fal.ai (dashboard, Keys)"),
  baseUrl: baseUrl("https://queue.fal.run", "Base URL of the queue, without a slash at its end"),
  jwksUrl: baseUrl(
    "https://rest.fal.ai/.well-known/jwks.json",
    "URL of the public keys that webhooks are checked with",
  ),
  platformUrl: baseUrl(
    "https://api.fal.ai/v1",
    "Base URL of the platform's API, which reports the balance, without a slash at its end",
  ),
  timeoutMs: timeoutMs(30_000),
  uploadTimeoutMs: timeoutMs(120_000, {
    maximum: 3_600_000,
    description: "How long the submission of a request may take that has a track in it",
  }),
  pollMs: pollMs(2_000),
  startTimeoutSeconds: {
    type: "integer",
    minimum: 2,
    maximum: 86_400,
    description: "fal gives up on work that has not started by then; no limit by default",
  },
  keepFilesSeconds: {
    type: "integer",
    default: 86_400,
    minimum: 3_600,
    maximum: 31_536_000,
    description: "How long fal keeps the files",
  },
  splits: { type: "boolean", default: true, description: "Split tracks with splitModel" },
  splitModel: { type: "string", default: "fal-ai/demucs", description: "Endpoint id of the separator" },
  splitAudioInput: { type: "string", default: "audio_url", description: "Its input that takes the URL of the track" },
  splitInputs: {
    type: "string",
    default: '{"model":"htdemucs_6s","output_format":"mp3"}',
    description: "Its other inputs, as JSON text",
  },
});

export type Host = ProviderHost<typeof SETTINGS>;

/** The separator; null: splits are switched off. */
export type Separator = {
  readonly endpoint: string;
  readonly audioInput: string;
  readonly inputs: ModelInputs;
} | null;

/** @throws {Error} naming the invalid setting */
export function separatorOf({ splits, splitModel, splitAudioInput, splitInputs }: Host["settings"]): Separator {
  if (!isEndpoint(splitModel))
    throw new Error(`splitModel: ${splitModel}; allowed: an endpoint id such as fal-ai/demucs`);
  const inputs = jsonObject("splitInputs", splitInputs, '{"output_format":"mp3"}');
  return splits ? { endpoint: splitModel, audioInput: splitAudioInput, inputs } : null;
}
