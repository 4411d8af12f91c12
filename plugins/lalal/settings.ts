import { apiKey, baseUrl, defineSettings, type ProviderHost, timeoutMs } from "../sdk/index.js";

export const SETTINGS = defineSettings({
  apiKey: apiKey("License key of the account"),
  baseUrl: baseUrl("https://www.lalal.ai", "Where it is, without a slash at its end"),
  stems: {
    type: "string",
    default: "vocals,drum,bass",
    description: "What a stem split takes out, comma-separated; each costs the track's minutes, the rest is `other`",
  },
  splitter: {
    type: "string",
    default: "auto",
    allowed: ["auto", "andromeda", "perseus", "orion", "phoenix", "lyra", "lynx"],
    description: "The network that splits; auto: as LALAL.AI thinks best",
  },
  extractionLevel: {
    type: "string",
    default: "deep_extraction",
    allowed: ["deep_extraction", "clear_cut"],
    description: "How cleanly stems are cut",
  },
  // Those of theirs that Fermata can store.
  encoderFormat: {
    type: "string",
    default: "source",
    allowed: ["source", "mp3", "wav", "flac", "ogg"],
    description: "Format of the stems; source: as the file came",
  },
  dereverb: { type: "boolean", default: false, description: "Takes echoes out of the vocals" },
  timeoutMs: timeoutMs(60_000),
  uploadTimeoutMs: timeoutMs(900_000, { maximum: 3_600_000, description: "How long an upload may take" }),
});

export type Host = ProviderHost<typeof SETTINGS>;
