import { baseUrl, defineSettings, pollMs, type ProviderHost, timeoutMs } from "../sdk/index.js";

export const SETTINGS = defineSettings({
  companyId: { type: "string", required: true, description: "Id of the company that has the licence" },
  licenseToken: { type: "string", required: true, secret: true, description: "Token of the licence" },
  customId: {
    type: "string",
    default: "fermata",
    description: "Name of the customer that tracks are created for; created there when it is first needed",
  },
  baseUrl: baseUrl("https://music-api.mubert.com"),
  timeoutMs: timeoutMs(60_000),
  pollMs: pollMs(5_000),
});

export type Host = ProviderHost<typeof SETTINGS>;
