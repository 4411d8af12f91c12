import { apiKey, defineSettings, type ProviderHost, timeoutMs } from "../sdk/index.js";

export const SETTINGS = defineSettings({
  apiKey: apiKey("Key from the vendor's console"),
  dialect: {
    type: "string",
    default: "sunoapi.org",
    allowed: ["sunoapi.org", "kie.ai"],
    description: "The vendor: the same number means no credit at one and a rate limit at the other",
  },
  baseUrl: {
    type: "string",
    description: "Base URL of the API, without a slash at its end; left out: the dialect's own",
  },
  webhookKey: {
    type: "string",
    secret: true,
    description: "Key that kie.ai signs its callbacks with; left out: none is checked",
  },
  fallbackCallbackUrl: {
    type: "string",
    default: "https://callback.invalid/",
    description:
      "Address sent as callBackUrl where Fermata has no public one: the vendors refuse a request without any",
  },
  timeoutMs: timeoutMs(60_000),
});

export type Host = ProviderHost<typeof SETTINGS>;
