import { apiKey, baseUrl, defineSettings, type ProviderHost, timeoutMs } from "../sdk/index.js";

export const SETTINGS = defineSettings({
  apiKey: apiKey("Key from platform.mureka.ai"),
  baseUrl: baseUrl("https://api.mureka.ai"),
  timeoutMs: timeoutMs(60_000),
  stemTimeoutMs: timeoutMs(300_000, { maximum: 1_800_000, description: "How long a split may take" }),
  stemFiles: {
    type: "string",
    description:
      "Our label of each stem and its file in Mureka's ZIP, as JSON text; " +
      "left out: no splits, the names are not documented",
  },
  separationModel: {
    type: "string",
    default: "audio-separation-1",
    allowed: ["audio-separation-1", "audio-separation-2", "audio-separation-3"],
    description: "Model that splits tracks",
  },
});

export type Host = ProviderHost<typeof SETTINGS>;
