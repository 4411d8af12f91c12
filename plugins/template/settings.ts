import { apiKey, baseUrl, defineSettings, pollMs, type ProviderHost, timeoutMs } from "../sdk/index.js";

/** Settings of the operator under `plugins.template`. */
export const SETTINGS = defineSettings({
  apiKey: apiKey("Key from the provider's console"),
  baseUrl: baseUrl("https://api.template.example"),
  timeoutMs: timeoutMs(30_000),
  pollMs: pollMs(5_000),
});

/** The host, with these settings. */
export type Host = ProviderHost<typeof SETTINGS>;
