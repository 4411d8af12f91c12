import { apiKey, baseUrl, defineSettings, type ProviderHost, timeoutMs } from "../sdk/index.js";

export const SETTINGS = defineSettings({
  apiKey: apiKey("API key of the Loudly account"),
  baseUrl: baseUrl("https://soundtracks.loudly.com"),
  timeoutMs: timeoutMs(300_000, {
    maximum: 3_600_000,
    description: "How long the call that creates a song may take: longer than the work",
  }),
});

export type Host = ProviderHost<typeof SETTINGS>;
