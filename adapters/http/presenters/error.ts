import type { ErrorCode } from "../../../core/error-codes.js";
import type { FermataError } from "../../../core/errors.js";

/** The body of every error response. */
export interface ErrorEnvelope {
  error: ErrorBody;
}

export interface ErrorBody {
  /** One of a closed list. */
  code: ErrorCode;
  /** For people; its words may change. */
  message: string;
  /** To be quoted when contacting support. */
  request_id: string;
  details?: { [name: string]: unknown };
}

/** What an error's envelope contains. */
export type ShownError = Pick<FermataError, "code" | "message" | "details">;

export function toErrorBody({ code, message, details }: ShownError, requestId: string): ErrorBody {
  const body: ErrorBody = { code, message, request_id: requestId };
  if (details !== undefined) body.details = details as { [name: string]: unknown };
  return body;
}

export function toErrorEnvelope(error: ShownError, requestId: string): ErrorEnvelope {
  return { error: toErrorBody(error, requestId) };
}
