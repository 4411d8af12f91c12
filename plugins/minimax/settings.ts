import { apiKey, baseUrl, defineSettings, type ProviderHost, timeoutMs } from "../sdk/index.js";

export const SETTINGS = defineSettings({
  apiKey: apiKey("API key of the platform; it holds for one region only"),
  baseUrl: baseUrl(
    "https://api.minimax.io",
    "Base URL of the API in the key's region, without a slash at its end; of the mainland: https://api.minimaxi.com",
  ),
  audioFormat: { type: "string", default: "mp3", allowed: ["mp3", "wav"], description: "Kind of file" },
  delivery: {
    type: "string",
    default: "url",
    allowed: ["url", "hex"],
    description: "How the file comes: as a link that lives for a day, or inside the response",
  },
  timeoutMs: timeoutMs(300_000, {
    maximum: 1_800_000,
    description: "How long one call may take; the music comes in the response, after minutes",
  }),
});

export type Host = ProviderHost<typeof SETTINGS>;
