import type { ProviderFailureKind } from "../sdk/index.js";
import type { Host } from "./settings.js";

export type DialectName = Host["settings"]["dialect"];

/** The differences between the vendors. */
export interface Dialect {
  readonly name: DialectName;
  readonly baseUrl: string;
  /** What the `code` of a response means. Any other code means what HTTP means by it. */
  readonly codes: Readonly<Record<number, ProviderFailureKind>>;
  /** The path that reports the remaining credits. */
  readonly creditPath: string;
  /** Upstream names of the models that the vendor has. */
  readonly models: readonly string[];
  /** Whether callbacks can be signed. */
  readonly signs: boolean;
}

/** The models that both vendors name for new integrations. */
export const CURRENT_MODELS = ["V6", "V6_WILD", "V6_MINI"];
/** Discontinued: sunoapi.org still takes them for backward compatibility, kie.ai ended them on 2026-09-25. */
export const EARLIER_MODELS = ["V4", "V4_5", "V4_5PLUS", "V4_5ALL", "V5", "V5_5"];

export const DIALECTS: Readonly<Record<DialectName, Dialect>> = {
  "sunoapi.org": {
    name: "sunoapi.org",
    baseUrl: "https://api.sunoapi.org",
    codes: {
      400: "invalid_input",
      401: "misconfigured",
      // "Call limit reached"; what it counts is not documented.
      405: "rate_limited",
      413: "invalid_input",
      // At the other vendor this is a rate limit; here it is final.
      429: "out_of_credit",
      430: "rate_limited",
      451: "invalid_input",
      455: "unavailable",
      // Generation failed, and "generation failed, credits refunded, try again": no task was created.
      501: "unavailable",
      531: "unavailable",
    },
    creditPath: "/api/v1/generate/credit",
    models: [...CURRENT_MODELS, ...EARLIER_MODELS],
    signs: false,
  },
  "kie.ai": {
    name: "kie.ai",
    baseUrl: "https://api.kie.ai",
    codes: {
      401: "misconfigured",
      402: "out_of_credit",
      422: "invalid_input",
      429: "rate_limited",
      // The key, one of several of the account, has used up its own limit.
      433: "out_of_credit",
      // The vendor could not fetch the file that the request names.
      451: "invalid_input",
      455: "unavailable",
      501: "unavailable",
      // The vendor has switched the feature off.
      505: "unavailable",
    },
    creditPath: "/api/v1/chat/credit",
    models: CURRENT_MODELS,
    signs: true,
  },
};
