import type { ProviderHost, ProviderSetting } from "../../core/ports/music-provider.js";
import { isEndpoint } from "./models.js";
import type { Inputs } from "./options.js";

export const SETTINGS: Readonly<Record<string, ProviderSetting>> = {
  apiKey: { type: "string", required: true, secret: true, description: "API key of fal.ai (dashboard, Keys)" },
  baseUrl: { type: "string", default: "https://queue.fal.run", description: "Where the queue is, without a slash at its end" },
  jwksUrl: {
    type: "string",
    default: "https://rest.fal.ai/.well-known/jwks.json",
    description: "Where the public keys are that webhooks are checked with",
  },
  platformUrl: {
    type: "string",
    default: "https://api.fal.ai/v1",
    description: "Where the platform's API is, which tells the balance, without a slash at its end",
  },
  timeoutMs: { type: "integer", default: 30_000, minimum: 1_000, maximum: 600_000, description: "How long one call may take" },
  pollMs: { type: "integer", default: 2_000, minimum: 500, maximum: 600_000, description: "How often accepted work is asked after" },
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
    description: "How long fal keeps the files that were made",
  },
  splits: { type: "boolean", default: true, description: "Take tracks apart with splitModel" },
  splitModel: { type: "string", default: "fal-ai/demucs", description: "Endpoint id of the separator" },
  splitAudioInput: { type: "string", default: "audio_url", description: "Its input that takes the URL of the track" },
  splitInputs: {
    type: "string",
    default: '{"model":"htdemucs_6s","output_format":"mp3"}',
    description: "Its other inputs, as JSON text",
  },
};

/** The settings, checked. */
export interface Config {
  readonly apiKey: string;
  readonly baseUrl: string;
  readonly jwksUrl: string;
  readonly platformUrl: string;
  readonly timeoutMs: number;
  readonly pollMs: number;
  readonly startTimeoutSeconds: number | null;
  readonly keepFilesSeconds: number;
  /** null: it takes nothing apart. */
  readonly split: { readonly endpoint: string; readonly audioInput: string; readonly inputs: Inputs } | null;
}

/** @throws {Error} naming the setting that is wrong */
export function readSettings(settings: ProviderHost["settings"]): Config {
  const text = (name: string): string => String(settings[name] ?? SETTINGS[name]?.default ?? "");
  const { startTimeoutSeconds, splits } = settings;
  const endpoint = text("splitModel");
  if (!isEndpoint(endpoint)) throw new Error(`splitModel: ${endpoint}; allowed: an endpoint id such as fal-ai/demucs`);
  return {
    apiKey: text("apiKey"),
    baseUrl: httpUrl("baseUrl", text("baseUrl")),
    jwksUrl: httpUrl("jwksUrl", text("jwksUrl")),
    platformUrl: httpUrl("platformUrl", text("platformUrl")),
    timeoutMs: Number(text("timeoutMs")),
    pollMs: Number(text("pollMs")),
    startTimeoutSeconds: typeof startTimeoutSeconds === "number" ? startTimeoutSeconds : null,
    keepFilesSeconds: Number(text("keepFilesSeconds")),
    split: splits === false ? null : { endpoint, audioInput: text("splitAudioInput"), inputs: readInputs(text("splitInputs")) },
  };
}

function readInputs(text: string): Inputs {
  let inputs: unknown;
  try {
    inputs = JSON.parse(text);
  } catch {
    inputs = null;
  }
  if (typeof inputs !== "object" || inputs === null || Array.isArray(inputs))
    throw new Error(`splitInputs: ${JSON.stringify(text)}; allowed: a JSON object such as {"output_format":"mp3"}`);
  return inputs as Inputs;
}

function httpUrl(name: string, text: string): string {
  const url = text.replace(/\/+$/, "");
  if (!URL.canParse(url) || !/^https?:\/\//i.test(url)) throw new Error(`${name}: ${JSON.stringify(text)}; allowed: an http or https URL`);
  return url;
}
