import type { ProviderFailureKind } from "../../core/ports/music-provider.js";

/** What the vendors of one shape differ in. */
export interface Dialect {
  readonly name: string;
  readonly baseUrl: string;
  /** What the `code` of an answer stands for. One that is not here means what HTTP means by it. */
  readonly codes: Readonly<Record<number, ProviderFailureKind>>;
  /** Whether callbacks can be signed. */
  readonly signs: boolean;
}

export const DIALECTS: Readonly<Record<string, Dialect>> = {
  "sunoapi.org": {
    name: "sunoapi.org",
    baseUrl: "https://api.sunoapi.org",
    codes: {
      400: "invalid_input",
      401: "misconfigured",
      // "Call limit reached"; what it counts is not documented.
      405: "rate_limited",
      413: "invalid_input",
      // Elsewhere this is a rate limit; here it is final.
      429: "out_of_credit",
      430: "rate_limited",
      455: "unavailable",
    },
    signs: false,
  },
  "kie.ai": {
    name: "kie.ai",
    baseUrl: "https://api.kie.ai",
    codes: { 401: "misconfigured", 402: "out_of_credit", 422: "invalid_input", 429: "rate_limited", 455: "unavailable" },
    signs: true,
  },
};

/** @throws {Error} for a name that is none */
export function dialectOf(name: unknown): Dialect {
  const dialect = typeof name === "string" && Object.hasOwn(DIALECTS, name) ? DIALECTS[name] : undefined;
  if (dialect === undefined) throw new Error(`dialect: ${JSON.stringify(name)}; allowed: ${Object.keys(DIALECTS).join(", ")}`);
  return dialect;
}
