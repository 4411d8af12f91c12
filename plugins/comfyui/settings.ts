import { baseUrl, defineSettings, pollMs, type ProviderHost, timeoutMs } from "../sdk/index.js";

export const SETTINGS = defineSettings({
  baseUrl: baseUrl("http://127.0.0.1:8188", "Where the server is, without a slash at its end"),
  apiKey: {
    type: "string",
    secret: true,
    description: "Key of a proxy in front of it, sent as a bearer token; the server itself has none",
  },
  stemWorkflow: {
    type: "string",
    description: "Workflow that separates a track into stems, in API format, as JSON text; left out: no splits",
  },
  stemOutputs: {
    type: "string",
    description: "Label of each stem and the node of that workflow that saves it, as JSON text",
  },
  pollMs: pollMs(3_000),
  timeoutMs: timeoutMs(60_000),
  uploadTimeoutMs: timeoutMs(300_000, { maximum: 3_600_000, description: "How long the upload of a track may take" }),
});

export type Host = ProviderHost<typeof SETTINGS>;
