import { baseUrl, defineSettings, type ProviderHost, timeoutMs } from "../sdk/index.js";

export const SETTINGS = defineSettings({
  baseUrl: baseUrl("http://127.0.0.1:8001", "Where the server is, without a slash at its end"),
  apiKey: { type: "string", secret: true, description: "Key of the server (`ACESTEP_API_KEY`), where it has one" },
  audioFormat: {
    type: "string",
    default: "flac",
    allowed: ["flac", "mp3", "wav", "opus"],
    description: "Format of the files; mp3 has 128 kbit/s",
  },
  timeoutMs: timeoutMs(300_000, {
    maximum: 3_600_000,
    description: "How long one call may take: the server may not respond while it loads a model",
  }),
});

export type Host = ProviderHost<typeof SETTINGS>;
