import { bagOf, failureOf, isObject, ProviderFailure } from "../../core/ports/music-provider.js";
import type { ApiAnswer, ApiCall, ProviderFailureKind } from "../../core/ports/music-provider.js";

/** The type of a model's error that refuses the content. */
export const REJECTED = "content_policy_violation";

/** Of work whose status has an error without a type. */
export const ERROR_CODE = "error";

const TIMEOUTS: ReadonlySet<string> = new Set(["request_timeout", "startup_timeout"]);

/** What an error's body tells: a list of a model's errors, or one of the platform. */
interface Said {
  /** `type` of the model's error, or `error_type` of the platform's; null without one. */
  readonly code: string | null;
  readonly message: string;
}

/** The failure of a call that was refused; undefined: a good answer. */
export function refusalOf(answer: ApiAnswer, call: Pick<ApiCall, "creates" | "asksAfter">): ProviderFailure | undefined {
  const usual = failureOf(answer, call);
  if (usual === null) return undefined;
  const said = saidIn(answer);
  return failureWith(said?.code === REJECTED ? "content_rejected" : usual.kind, answer, usual, said);
}

/**
 * The failure that the result of work stands for; undefined: a good one.
 *
 * @param hasFailed its status says so: then plain words tell why. Otherwise they may be of a queue in trouble, and only a code is of the work
 */
export function finalFailureOf(answer: ApiAnswer, call: Pick<ApiCall, "asksAfter">, hasFailed: boolean): ProviderFailure | undefined {
  const usual = failureOf(answer, call);
  if (usual === null) return undefined;
  const said = saidIn(answer);
  const isFinal = said !== null && (hasFailed || said.code !== null);
  if (!isFinal) return failureWith(usual.kind, answer, usual, said);
  const ofWork = answer.status >= 500 ? "failed" : (failureOf(answer)?.kind ?? "failed");
  return failureWith(kindOfCode(said.code) ?? ofWork, answer, usual, { ...said, code: said.code ?? ERROR_CODE });
}

/** What work died of, by its status; null where only its result tells. */
export function failureOfStatus(error: string, errorType: string | null): ProviderFailure | null {
  const words = [errorType, error].filter((word) => word !== null && word !== "").join(": ");
  const kind = kindOfCode(errorType) ?? (/cancel/i.test(words) ? "cancelled" : null);
  const isRunner = errorType?.startsWith("runner_") === true;
  if (kind === null && !isRunner) return null;
  return new ProviderFailure(kind ?? "failed", words.slice(0, 300), { billable: "no", providerCode: errorType ?? undefined });
}

/** The types of a model's errors in an error's body. */
export function errorTypesIn(body: unknown): string[] {
  const { detail } = bagOf(body);
  if (!Array.isArray(detail)) return [];
  return detail.map(bagOf).flatMap(({ type }) => (typeof type === "string" ? [type] : []));
}

function kindOfCode(code: string | null): ProviderFailureKind | null {
  if (code === REJECTED) return "content_rejected";
  return code !== null && TIMEOUTS.has(code) ? "timeout" : null;
}

function failureWith(kind: ProviderFailureKind, answer: ApiAnswer, usual: ProviderFailure, said: Said | null): ProviderFailure {
  const { status, headers } = answer;
  // 422 may be billed although nothing came of it; errors of the server never are.
  const isOpen = status === 422 || kind === "outcome_unknown";
  return new ProviderFailure(kind, said === null ? usual.message : `${status}: ${said.message}`, {
    billable: isOpen ? "unknown" : "no",
    retryAfterMs: usual.retryAfterMs ?? undefined,
    providerCode: said?.code ?? undefined,
    requestId: headers.get("x-fal-request-id") ?? usual.requestId ?? undefined,
  });
}

/** null: it is none of the documented shapes. */
function saidIn(answer: ApiAnswer): Said | null {
  const body = answer.json();
  if (!isObject(body)) return null;
  const { detail, error_type: platform } = body;
  const types = errorTypesIn(body);
  const type = types.includes(REJECTED) ? REJECTED : types[0];
  const code = type ?? (typeof platform === "string" ? platform : answer.headers.get("x-fal-error-type"));
  if (detail === undefined && code === null) return null;
  return { code, message: (typeof detail === "string" ? detail : (JSON.stringify(detail) ?? code ?? "")).slice(0, 300) };
}
