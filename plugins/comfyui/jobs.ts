import { asObject, isObject, type JsonObject, ProviderFailure, providerFailure } from "../sdk/index.js";
import type { ApiResponse } from "../sdk/index.js";

/** The state of a job, whichever route reports it. */
export type Job =
  | { readonly state: "pending" | "running" }
  | { readonly state: "completed"; readonly outputs: JsonObject; readonly extraData: JsonObject }
  | { readonly state: "ended"; readonly failure: ProviderFailure };

/** Reads `/api/jobs/ID`. @throws {ProviderFailure} `unavailable` when the response has no known status */
export function jobIn(response: ApiResponse): Job {
  const { status, outputs, execution_error: error, execution_status: log, workflow } = asObject(response.json());
  switch (status) {
    case "pending":
      return { state: "pending" };
    case "in_progress":
      return { state: "running" };
    case "completed":
      return { state: "completed", outputs: asObject(outputs), extraData: asObject(asObject(workflow)["extra_data"]) };
    case "cancelled":
      return cancelled();
    case "failed":
      return ended(asObject(log), error);
    default: {
      const message = `The status ${JSON.stringify(status)} of the job is unknown.`;
      throw providerFailure("unavailable", response, { message });
    }
  }
}

/** Reads `/history/ID`; null: the job is not there. @throws {ProviderFailure} `unavailable` when it is no history */
export function jobInHistory(response: ApiResponse, id: string): Job | null {
  const body = response.json();
  if (!isObject(body)) throw providerFailure("unavailable", response, { message: "The response is no history." });
  const item = body[id];
  if (!isObject(item)) return null;
  const { prompt, outputs, status } = item;
  const log = asObject(status);
  if (log["status_str"] === "error") return ended(log, undefined);
  const [, , , extraData] = Array.isArray(prompt) ? (prompt as readonly unknown[]) : [];
  return { state: "completed", outputs: asObject(outputs), extraData: asObject(extraData) };
}

/** Reads `/queue`; null: the job is not there. @throws {ProviderFailure} `unavailable` when it is no queue */
export function jobInQueue(response: ApiResponse, id: string): Job | null {
  const { queue_running: running, queue_pending: pending } = asObject(response.json());
  if (!Array.isArray(running) || !Array.isArray(pending))
    throw providerFailure("unavailable", response, { message: "The response is no queue." });
  const holds = (queue: readonly unknown[]): boolean => queue.some((item) => Array.isArray(item) && item[1] === id);
  return holds(running) ? { state: "running" } : holds(pending) ? { state: "pending" } : null;
}

/** An interrupted job has the status `error` too. */
function ended(log: JsonObject, given: unknown): Job {
  const messages = Array.isArray(log["messages"]) ? log["messages"] : [];
  const events = messages.filter((entry): entry is readonly unknown[] => Array.isArray(entry));
  const byName = new Map(events.map(([event, data]) => [event, data]));
  if (byName.has("execution_interrupted") && !isObject(given)) return cancelled();
  const error = asObject(given ?? byName.get("execution_error"));
  const { exception_type: type, exception_message: text, node_type: node } = error;
  const code = typeof type === "string" && type !== "" ? type : "failed";
  const words = [code, ...[text, node].filter((word) => typeof word === "string" && word.trim() !== "")].join(": ");
  const message = `The job failed: ${words.replace(/\s+/g, " ").slice(0, 300)}`;
  return { state: "ended", failure: new ProviderFailure("failed", message, { providerCode: code }) };
}

function cancelled(): Job {
  return { state: "ended", failure: new ProviderFailure("cancelled", "The job was cancelled on the server.") };
}
