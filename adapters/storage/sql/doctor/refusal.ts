import { ServiceUnavailableError } from "../../../../core/errors.js";
import { isDriverUnusable } from "../sqlite/errors.js";
import { classifyRefusal, isRefusal } from "./mysql-connection.js";

const SEE_MORE = "`fermata doctor` checks the database and everything else.";

function rootOf(error: Error): Error {
  return error.cause instanceof Error ? rootOf(error.cause) : error;
}

/**
 * Why a database cannot be opened or migrated, for the operator who chose it: with its setting, and how to fix it. An
 * error with another reason is returned as it is.
 *
 * @param url as in `storage.url`
 */
export function explainRefusal(url: string, error: unknown): unknown {
  const target = url.slice(url.indexOf(":") + 1);
  if (url.startsWith("sqlite:")) {
    const isOfFile = error instanceof Error && error.message.startsWith("The SQLite file ");
    if (!isOfFile || isDriverUnusable(error)) return error;
    return new Error(`${error.message.replace(/\.$/, "")}. storage.url names it. ${SEE_MORE}`, { cause: error });
  }
  if (!isRefusal(error)) return error;
  const { message, fix } = classifyRefusal(target, error);
  const text = `The database of storage.url cannot be used. ${message} ${fix} ${SEE_MORE}`;
  // Apps and supervisors may try again.
  if (error instanceof ServiceUnavailableError)
    return new ServiceUnavailableError(text, error.retryAfterSeconds, { cause: rootOf(error) });
  return new Error(text, { cause: error });
}
