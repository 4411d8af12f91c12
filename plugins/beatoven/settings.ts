import { apiKey, baseUrl, defineSettings, pollMs, type ProviderHost, timeoutMs } from "../sdk/index.js";

export const SETTINGS = defineSettings({
  apiKey: apiKey("API token of the Beatoven.ai account"),
  baseUrl: baseUrl("https://public-api.beatoven.ai"),
  timeoutMs: timeoutMs(60_000),
  pollMs: pollMs(5_000),
});

export type Host = ProviderHost<typeof SETTINGS>;
