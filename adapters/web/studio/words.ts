import { ApiError } from "../parts/api-error.js";
import { clockTime, wholeNumber } from "../parts/format.js";
import type { JobError } from "./api.js";

/** What happened, and what to do about it. */
export function wordsOf(error: Error): string {
  if (!(error instanceof ApiError)) return error.message;
  const number = (name: string): string => wholeNumber(Number(error.details[name] ?? 0));
  switch (error.code) {
    case "insufficient_credits":
      return (
        `This takes ${number("required")} credits, and you have ${number("available")}. A cheaper model may do, or ` +
        "ask the operator of this installation for more."
      );
    case "generation_concurrency_exceeded":
      return (
        `${number("running")} of your jobs are at work, and your account may run ${number("limit")} at once. Try ` +
        "again when one has ended."
      );
    case "rate_limited":
      return `That was a lot at once. Try again in ${waitOf(error)}.`;
    case "provider_unavailable":
    case "provider_timeout":
      return "The provider of this model cannot be reached just now. Nothing was charged. Try again, or another model.";
    case "service_unavailable":
      return "The service is busy or restarting. Try again in a moment: you are not charged twice.";
    case "internal_error":
      return "Something went wrong at the server. Try again: you are not charged twice.";
    case "unreachable":
      return "The server cannot be reached. Check the connection and try again: you are not charged twice.";
    case "insufficient_scope":
      return `Your API key may not do this: it lacks the scope ${String(error.details["required_scope"])}.`;
    case "api_terms_not_accepted":
      return "The terms of the API have not been accepted for this account.";
    case "account_suspended":
      return "This account is suspended. Ask the operator of this installation.";
    case "invalid_request":
      return issuesOf(error) ?? error.message;
    default:
      return error.message;
  }
}

/** Why a job failed; it was refunded. */
export function wordsOfFailure({ code, message, details }: JobError): string {
  const reason = (details as { readonly reason?: unknown } | undefined)?.reason;
  if (reason === "content_rejected") return "The provider refused these words. Say it in another way.";
  if (code === "provider_unavailable") return "The provider could not be reached.";
  if (code === "provider_timeout") return "The provider took too long.";
  return message;
}

function waitOf({ details }: ApiError): string {
  const seconds = Math.max(1, Number(details["retry_after_seconds"] ?? 1));
  return seconds < 60 ? `${seconds} s` : clockTime(seconds);
}

/** `duration must be 5 to 240 seconds`. */
function issuesOf({ details }: ApiError): string | null {
  const issues = details["issues"] as readonly { readonly path: string; readonly message: string }[] | undefined;
  if (issues === undefined || issues.length === 0) return null;
  const sentences = issues.map(({ path, message }) => `${path.replace(/^(body|path|query|header)\.?/, "")} ${message}`);
  return `${sentences.join("; ")}.`;
}
