import type { ProviderFailureKind } from "../ports/music-provider.js";
import type { JobError } from "./job.js";

/** The `error` of a job that ends because of a provider's last failure. */
export function jobErrorOf(kind: ProviderFailureKind): JobError {
  switch (kind) {
    case "unavailable":
    case "rate_limited":
    case "misconfigured":
    case "out_of_credit":
    case "model_unavailable":
      return { code: "provider_unavailable", message: "The provider was unavailable on every attempt." };
    case "timeout":
    case "outcome_unknown":
      return { code: "provider_timeout", message: "The provider did not answer in time." };
    case "content_rejected":
      return {
        code: "invalid_request",
        message: "The provider refused the content of the request.",
        details: { reason: "content_rejected" },
      };
    case "failed":
    case "invalid_input":
    case "cancelled":
    case "gone":
      return { code: "generation_failed", message: "The provider could not complete the job." };
  }
}

/** The `error` of a job whose workers were lost or failed unexpectedly too often. */
export const POISON_ERROR: JobError = { code: "generation_failed", message: "The job could not be processed." };

/** The `error` of a job that did not end before its deadline. */
export const DEADLINE_ERROR: JobError = {
  code: "provider_timeout",
  message: "The job did not finish before its deadline.",
};

/** In the details of a cancelled job's `error`. */
export const CANCELLED_REASON = "cancelled";

/** The `error` of a job that was cancelled. */
export const CANCELLED_ERROR: JobError = {
  code: "generation_failed",
  message: "The job was cancelled.",
  details: { reason: CANCELLED_REASON },
};
