import type { ProviderHost, ProviderSetting } from "../../core/ports/music-provider.js";
import { isVersion, SPLIT_MODEL } from "./models.js";
import type { Inputs } from "./options.js";

export const SETTINGS: Readonly<Record<string, ProviderSetting>> = {
  apiKey: { type: "string", required: true, secret: true, description: "API token of replicate.com (Account settings, API tokens)" },
  baseUrl: { type: "string", default: "https://api.replicate.com/v1", description: "Where the API is, without a slash at its end" },
  timeoutMs: { type: "integer", default: 30_000, minimum: 1_000, maximum: 600_000, description: "How long one call may take" },
  pollMs: { type: "integer", default: 2_000, minimum: 500, maximum: 600_000, description: "How often accepted work is asked after" },
  cancelAfterSeconds: {
    type: "integer",
    minimum: 5,
    maximum: 86_400,
    description: "Replicate ends work that takes longer: a guard against cost; none by default",
  },
  splits: { type: "boolean", default: true, description: "Take tracks apart with splitModel" },
  splitModel: { type: "string", default: SPLIT_MODEL, description: "Separator: owner/name, with :version for models of the community" },
  splitAudioInput: { type: "string", default: "audio", description: "Its input that takes the URL of the track" },
  splitVocalsInput: { type: "string", default: "stem", description: "Its input that, set to vocals, makes it answer vocals and the rest" },
  splitInputs: { type: "string", default: '{"output_format":"mp3"}', description: "Its other inputs, as JSON text" },
};

/** The settings, checked. */
export interface Config {
  readonly apiKey: string;
  readonly baseUrl: string;
  readonly timeoutMs: number;
  readonly pollMs: number;
  readonly cancelAfterSeconds: number | null;
  /** null: it takes nothing apart. */
  readonly split: {
    readonly version: string;
    readonly audioInput: string;
    readonly vocalsInput: string;
    readonly inputs: Inputs;
  } | null;
}

/** @throws {Error} naming the setting that is wrong */
export function readSettings(settings: ProviderHost["settings"]): Config {
  const text = (name: string): string => String(settings[name] ?? SETTINGS[name]?.default ?? "");
  const { cancelAfterSeconds, splits } = settings;
  const version = text("splitModel");
  if (!isVersion(version))
    throw new Error(`splitModel: ${version}; allowed: owner/name, owner/name:<version of 64 hex digits>, or the version alone`);
  return {
    apiKey: text("apiKey"),
    baseUrl: httpUrl("baseUrl", text("baseUrl")),
    timeoutMs: Number(text("timeoutMs")),
    pollMs: Number(text("pollMs")),
    cancelAfterSeconds: typeof cancelAfterSeconds === "number" ? cancelAfterSeconds : null,
    split:
      splits === false
        ? null
        : { version, audioInput: text("splitAudioInput"), vocalsInput: text("splitVocalsInput"), inputs: readInputs(text("splitInputs")) },
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
