import { apiKey, baseUrl, defineSettings, pollMs, type ProviderHost, timeoutMs } from "../sdk/index.js";

/** Names of the models that separate instruments and voices; a stem has the name of its model. */
export const STEMS = [
  "vocals",
  "vocals_lead",
  "vocals_backing",
  "instrumental",
  "drums",
  "bass",
  "guitar",
  "guitar_electric",
  "guitar_acoustic",
  "piano",
  "keys",
  "strings",
  "wind",
  "other",
  "other-x-guitar",
] as const;

/** Settings of the operator under `plugins.audioshake`. */
export const SETTINGS = defineSettings({
  apiKey: apiKey("Key from dashboard.audioshake.ai, under Settings"),
  baseUrl: baseUrl("https://api.audioshake.ai"),
  stems: {
    type: "string",
    default: "vocals,drums,bass,other",
    description: "Stems of a stem split, separated by commas; each is billed for every minute of the track",
  },
  format: {
    type: "string",
    default: "wav",
    allowed: ["wav", "flac", "mp3"],
    description: "Format of the stems",
  },
  timeoutMs: timeoutMs(60_000),
  uploadTimeoutMs: timeoutMs(900_000, { maximum: 3_600_000, description: "How long an upload may take" }),
  pollMs: pollMs(5_000),
});

/** The host, with these settings. */
export type Host = ProviderHost<typeof SETTINGS>;

/** @throws {Error} naming the setting: a stem is unknown, or named twice */
export function readStems(list: string): readonly string[] {
  const stems = list.split(",").map((stem) => stem.trim());
  const unknown = stems.filter((stem) => !(STEMS as readonly string[]).includes(stem));
  if (unknown.length > 0) throw new Error(`stems: ${JSON.stringify(unknown.join(", "))}; allowed: ${STEMS.join(", ")}`);
  if (new Set(stems).size < stems.length) throw new Error(`stems: ${JSON.stringify(list)}; allowed: each once`);
  return stems;
}
