import { apiKey, baseUrl, defineSettings, pollMs, type ProviderHost, timeoutMs } from "../sdk/index.js";

export const SETTINGS = defineSettings({
  apiKey: apiKey("API key of the platform"),
  baseUrl: baseUrl("https://api.stability.ai"),
  clientUserId: { type: "string", description: "Sent as `stability-client-user-id`; left out: not sent" },
  outputFormat: { type: "string", default: "mp3", allowed: ["mp3", "wav"], description: "Kind of file" },
  pollMs: pollMs(10_000, { minimum: 1_000 }),
  timeoutMs: timeoutMs(300_000, {
    maximum: 1_800_000,
    description: "How long one call may take; the music of the older models comes in the response",
  }),
});

export type Host = ProviderHost<typeof SETTINGS>;
