import type { ProviderHost, ProviderSetting, SplitRequest } from "../../core/ports/music-provider.js";

export const SETTINGS: Readonly<Record<string, ProviderSetting>> = {
  apiKey: { type: "string", required: true, secret: true, description: "API key of an application (music.ai dashboard)" },
  baseUrl: { type: "string", default: "https://api.music.ai/v1", description: "Where the API is, without a slash at its end" },
  timeoutMs: { type: "integer", default: 30_000, minimum: 1_000, maximum: 600_000, description: "How long one call may take" },
  uploadTimeoutMs: {
    type: "integer",
    default: 300_000,
    minimum: 1_000,
    maximum: 3_600_000,
    description: "How long the upload of a track may take",
  },
  pollMs: { type: "integer", default: 5_000, minimum: 500, maximum: 600_000, description: "How often accepted work is asked after" },
  vocalRemovalWorkflow: {
    type: "string",
    default: "music-ai/stems-vocals-accompaniment",
    description: "Slug of the workflow that parts the vocals from the rest",
  },
  stemSplitWorkflow: { type: "string", description: "Slug of a workflow that answers stems; without it there are no stem splits" },
  labels: {
    type: "string",
    default: "accompaniment=instrumental, accompaniments=instrumental",
    description: "What outputs of the workflows are called here, as name=label with commas between; name=- leaves one out",
  },
};

/** The settings, checked. */
export interface Config {
  readonly apiKey: string;
  readonly baseUrl: string;
  readonly timeoutMs: number;
  readonly uploadTimeoutMs: number;
  readonly pollMs: number;
  /** null: it does not do that. */
  readonly workflows: { readonly [operation in SplitRequest["operation"]]: string | null };
  readonly labels: Labels;
}

/** By the output's name in lower case; null for one that is left out. */
export type Labels = ReadonlyMap<string, string | null>;

/** @throws {Error} naming the setting that is wrong */
export function readSettings(settings: ProviderHost["settings"]): Config {
  const text = (name: string): string => String(settings[name] ?? SETTINGS[name]?.default ?? "").trim();
  return {
    apiKey: text("apiKey"),
    baseUrl: httpUrl("baseUrl", text("baseUrl")),
    timeoutMs: Number(text("timeoutMs")),
    uploadTimeoutMs: Number(text("uploadTimeoutMs")),
    pollMs: Number(text("pollMs")),
    workflows: { vocal_removal: text("vocalRemovalWorkflow"), stem_split: text("stemSplitWorkflow") || null },
    labels: readLabels(text("labels")),
  };
}

function readLabels(text: string): Labels {
  return new Map(
    text.split(",").map((pair) => {
      const [, name, label] = /^\s*([^=]*[^=\s])\s*=\s*(-|[a-z][a-z0-9_ -]*?)\s*$/.exec(pair) ?? [];
      if (name === undefined || label === undefined || label === "full")
        throw new Error(
          `labels: ${JSON.stringify(pair.trim())}; allowed: name=label in lower case, name=- to leave it out, with commas between`,
        );
      return [name.toLowerCase(), label === "-" ? null : label] as const;
    }),
  );
}

function httpUrl(name: string, text: string): string {
  const url = text.replace(/\/+$/, "");
  if (!URL.canParse(url) || !/^https?:\/\//i.test(url)) throw new Error(`${name}: ${JSON.stringify(text)}; allowed: an http or https URL`);
  return url;
}
