import { apiKey, baseUrl, defineSettings, pollMs, type ProviderHost, timeoutMs } from "../sdk/index.js";

/** Settings of the operator under `plugins.musicgpt`. */
export const SETTINGS = defineSettings({
  apiKey: apiKey("Key from musicgpt.com/api-dashboard"),
  baseUrl: baseUrl("https://api.musicgpt.com/api/public"),
  timeoutMs: timeoutMs(60_000),
  pollMs: pollMs(10_000, { minimum: 3_000 }),
});

/** The host, with these settings. */
export type Host = ProviderHost<typeof SETTINGS>;
