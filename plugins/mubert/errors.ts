import { asObject, failureOf, providerFailure } from "../sdk/index.js";
import type { ApiResponse, ApiCall, ProviderFailure, ProviderFailureKind } from "../sdk/index.js";

/** The customer's token has expired: the next call requests a new one. */
export const TOKEN_EXPIRED = "AccessTokenExpired";

/** Codes of a 403. Any other code refuses the key or the licence. */
const KINDS: Readonly<Record<string, ProviderFailureKind>> = {
  [TOKEN_EXPIRED]: "unavailable",
  LicenseLimitConcurrentTrackGenerationsCount: "rate_limited",
  LicenseLimitTracksCount: "out_of_credit",
  LicenseLimitTracksDuration: "out_of_credit",
  // The caller chose the duration; the operator chose formats, bitrates and the like.
  LicenseForbiddenDuration: "invalid_input",
};

/** A call that depends on the settings alone cannot fail in another way. */
const BY_SETTINGS: readonly ProviderFailureKind[] = ["gone", "invalid_input", "failed"];

/** The failure of a call with a customer's credentials; null: the call succeeded. */
export function classifyPublic(response: ApiResponse, call: ApiCall): ProviderFailure | null {
  return classified(response, call, (kind, isTheirs) => {
    // Neither a code of the table nor a 404 without the API's own message ends accepted work.
    const isEnd = kind === "invalid_input" || (kind === "gone" && !isTheirs);
    return isEnd && call.isStatusCall === true ? "unavailable" : kind;
  });
}

/** The failure of a call with the company's credentials, which starts no work; null: the call succeeded. */
export function classifyService(response: ApiResponse, call: ApiCall): ProviderFailure | null {
  return classified(response, call, (kind) => (BY_SETTINGS.includes(kind) ? "misconfigured" : kind));
}

/** Errors are `{ message, description?, code? }`. */
function classified(
  response: ApiResponse,
  call: ApiCall,
  kindHere: (kind: ProviderFailureKind, isTheirs: boolean) => ProviderFailureKind,
): ProviderFailure | null {
  const usual = failureOf(response, call);
  if (usual === null) return null;
  const { message, description, code } = asObject(response.json());
  const detail = [code, message, description].filter((text): text is string => typeof text === "string" && text !== "");
  const listed =
    response.status === 403 && typeof code === "string" && Object.hasOwn(KINDS, code) ? KINDS[code] : undefined;
  return providerFailure(kindHere(listed ?? usual.kind, typeof message === "string"), response, {
    ...(detail.length === 0 ? {} : { message: detail.join(": ").slice(0, 300) }),
    ...(typeof code === "string" ? { code } : {}),
  });
}
