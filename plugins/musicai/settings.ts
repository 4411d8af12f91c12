import { apiKey, baseUrl, defineSettings, pollMs, type ProviderHost, timeoutMs } from "../sdk/index.js";

export const SETTINGS = defineSettings({
  apiKey: apiKey("API key of an application (music.ai dashboard)"),
  baseUrl: baseUrl("https://api.music.ai/v1"),
  timeoutMs: timeoutMs(30_000),
  uploadTimeoutMs: timeoutMs(300_000, { maximum: 3_600_000, description: "How long the upload of a track may take" }),
  pollMs: pollMs(5_000),
  vocalRemovalWorkflow: {
    type: "string",
    default: "music-ai/stems-vocals-accompaniment",
    description: "Slug of the workflow that separates the vocals from the rest",
  },
  stemSplitWorkflow: {
    type: "string",
    description: "Slug of a workflow whose outputs are stems; without it there are no stem splits",
  },
  labels: {
    type: "string",
    default: "accompaniment=instrumental, accompaniments=instrumental",
    description:
      "What outputs of the workflows are called here, as name=label with commas between; name=- leaves one out",
  },
});

export type Host = ProviderHost<typeof SETTINGS>;

/** By the output's name in lower case; null for one that is left out. */
export type Labels = ReadonlyMap<string, string | null>;

/** Slug of the workflow for an operation; null: there is none. */
export function workflowFor(
  operation: "stem_split" | "vocal_removal",
  { vocalRemovalWorkflow, stemSplitWorkflow = "" }: Host["settings"],
): string | null {
  const slug = operation === "vocal_removal" ? vocalRemovalWorkflow : stemSplitWorkflow;
  return slug.trim() === "" ? null : slug.trim();
}

/** @throws {Error} naming the invalid setting */
export function readLabels(text: string): Labels {
  return new Map(
    text.split(",").map((pair) => {
      const [, name, label] = /^\s*([^=]*[^=\s])\s*=\s*(-|[a-z][a-z0-9_ -]*?)\s*$/.exec(pair) ?? [];
      if (name === undefined || label === undefined || label === "full")
        throw new Error(
          `labels: ${JSON.stringify(pair.trim())}; allowed: name=label in lower case, name=- to leave it out, ` +
            "with commas between",
        );
      return [name.toLowerCase(), label === "-" ? null : label] as const;
    }),
  );
}
