import { apiKey, baseUrl, defineSettings, type ProviderHost, timeoutMs } from "../sdk/index.js";

export const SETTINGS = defineSettings({
  apiKey: apiKey("API key of elevenlabs.io; music needs a paid plan"),
  baseUrl: baseUrl("https://api.elevenlabs.io"),
  outputFormat: {
    type: "string",
    default: "auto",
    // PCM has no header and an undocumented number of channels: only what is a file by itself can be chosen.
    allowed: [
      "auto",
      "mp3_48000_128",
      "mp3_48000_192",
      "mp3_48000_240",
      "mp3_48000_320",
      "mp3_44100_32",
      "mp3_44100_64",
      "mp3_44100_96",
      "mp3_44100_128",
      "mp3_44100_192",
      "mp3_24000_48",
      "mp3_22050_32",
    ],
    description:
      "Kind of file: codec, sample rate, kbit/s; the better ones need a higher plan. auto is the model's own",
  },
  storeForInpainting: {
    type: "boolean",
    default: false,
    description: "Have ElevenLabs keep what it generates, so that it can be worked from without an upload",
  },
  timeoutMs: timeoutMs(300_000, {
    maximum: 1_800_000,
    description: "How long one call may take; the music comes in the response, after minutes",
  }),
});

export type Host = ProviderHost<typeof SETTINGS>;
