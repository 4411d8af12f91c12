import { failureOf, providerFailure } from "../../core/ports/music-provider.js";
import type { ApiAnswer, ApiCall, ProviderFailure, ProviderFailureKind } from "../../core/ports/music-provider.js";
import { bagOf } from "./map.js";

/** The customer's token ran out: the next call asks for a new one. */
export const TOKEN_EXPIRED = "AccessTokenExpired";

/** Codes of a 403. Those that are not here refuse the key or the licence. */
const KINDS: Readonly<Record<string, ProviderFailureKind>> = {
  [TOKEN_EXPIRED]: "unavailable",
  LicenseLimitConcurrentTrackGenerationsCount: "rate_limited",
  LicenseLimitTracksCount: "out_of_credit",
  LicenseLimitTracksDuration: "out_of_credit",
  // The caller asked for it; formats, bitrates and the like are the operator's own.
  LicenseForbiddenDuration: "invalid_input",
};

/** Kinds that would end accepted work. */
const ENDING: readonly ProviderFailureKind[] = ["gone", "invalid_input", "failed"];

/** The failure of a call with a customer's credentials; null: a good answer. */
export function judgePublic(answer: ApiAnswer, call: ApiCall): ProviderFailure | null {
  return judged(answer, call, (kind, isTheirs) => {
    if (call.creates === true || !ENDING.includes(kind)) return kind;
    // Accepted work is given up only where they say themselves that they do not know it, and not for a gateway's page.
    return isTheirs && kind === "gone" ? kind : "unavailable";
  });
}

/** The failure of a call with the company's credentials, which makes no work; null: a good answer. */
export function judgeService(answer: ApiAnswer, call: ApiCall): ProviderFailure | null {
  // What is sent there is of the settings alone.
  return judged(answer, call, (kind) => (ENDING.includes(kind) ? "misconfigured" : kind));
}

/** Errors are `{ message, description?, code? }`. */
function judged(
  answer: ApiAnswer,
  call: ApiCall,
  kindHere: (kind: ProviderFailureKind, isTheirs: boolean) => ProviderFailureKind,
): ProviderFailure | null {
  const usual = failureOf(answer, call);
  if (usual === null) return null;
  const { message, description, code } = bagOf(answer.json());
  const said = [code, message, description].filter((text): text is string => typeof text === "string" && text !== "");
  const listed = answer.status === 403 && typeof code === "string" && Object.hasOwn(KINDS, code) ? KINDS[code] : undefined;
  return providerFailure(kindHere(listed ?? usual.kind, typeof message === "string"), answer, {
    ...(said.length === 0 ? {} : { message: said.join(": ").slice(0, 300) }),
    ...(typeof code === "string" ? { code } : {}),
  });
}
