import { apiKey, baseUrl, defineSettings, pollMs, type ProviderHost, timeoutMs } from "../sdk/index.js";

/** Settings of the operator under `plugins.sonauto`. */
export const SETTINGS = defineSettings({
  apiKey: apiKey("Key from treblo.com/developers; one from sonauto.ai is the same"),
  baseUrl: baseUrl("https://api.treblo.com/v1"),
  outputFormat: {
    type: "string",
    default: "mp3",
    allowed: ["mp3", "ogg", "flac", "wav", "m4a"],
    description: "Format of the files; left out, Sonauto would choose ogg",
  },
  timeoutMs: timeoutMs(60_000),
  pollMs: pollMs(5_000),
});

/** The host, with these settings. */
export type Host = ProviderHost<typeof SETTINGS>;
