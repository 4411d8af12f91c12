import { defineProvider, PROVIDER_PORT_VERSION } from "../../core/ports/music-provider.js";
import type { ProviderSetting, SplitCapability } from "../../core/ports/music-provider.js";
import { EXTRACTION_LEVELS, FORMATS, SPLITTERS } from "./options.js";
import { LalalProvider } from "./provider.js";

const SETTINGS: Readonly<Record<string, ProviderSetting>> = {
  apiKey: { type: "string", required: true, secret: true, description: "License key of the account" },
  baseUrl: { type: "string", default: "https://www.lalal.ai", description: "Where it is, without a slash at its end" },
  stems: {
    type: "string",
    default: "vocals,drum,bass",
    description: "What a stem split takes out, with commas between; each costs the piece's minutes, and the rest is `other`",
  },
  splitter: { type: "string", default: "auto", allowed: SPLITTERS, description: "The network that splits; auto: as LALAL.AI thinks best" },
  extractionLevel: { type: "string", default: "deep_extraction", allowed: EXTRACTION_LEVELS, description: "How cleanly stems are cut" },
  encoderFormat: { type: "string", default: "source", allowed: FORMATS, description: "Format of the stems; source: as the file came" },
  dereverb: { type: "boolean", default: false, description: "Takes echoes out of the vocals" },
  timeoutMs: { type: "integer", default: 60_000, minimum: 1_000, maximum: 600_000, description: "How long one call may take" },
  uploadTimeoutMs: { type: "integer", default: 900_000, minimum: 1_000, maximum: 3_600_000, description: "How long an upload may take" },
};

const SPLIT: SplitCapability = { sources: "any", maxBytes: 10_000_000_000 };

/** LALAL.AI: takes pieces apart and makes none. */
export default defineProvider({
  id: "lalal",
  label: "LALAL.AI",
  portVersion: PROVIDER_PORT_VERSION,
  concurrency: 2,
  longestCallMs: ({ timeoutMs, uploadTimeoutMs }) => Number(timeoutMs) + Number(uploadTimeoutMs),
  hosts: [],
  settings: SETTINGS,
  models: [],
  capabilities: { idempotentSubmit: true, lookup: false, cancel: true, stemSplit: SPLIT, vocalRemoval: SPLIT },
  create: (host) => new LalalProvider(host),
});
