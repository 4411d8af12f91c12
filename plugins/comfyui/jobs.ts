import { asObject, isObject, type JsonObject, ProviderFailure, providerFailure } from "../sdk/index.js";
import type { ApiResponse } from "../sdk/index.js";

/** A job as the server tells of it, by whichever route. */
export type Job =
  | { readonly state: "pending" | "running" }
  | { readonly state: "completed"; readonly outputs: JsonObject; readonly extraData: JsonObject }
  | { readonly state: "ended"; readonly failure: ProviderFailure };

/** Of `/api/jobs/ID`. @throws {ProviderFailure} `unavailable` where it says nothing of the job */
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

/** Of `/history/ID`; null: it is not there. @throws {ProviderFailure} `unavailable` where it says nothing of it */
export function jobInHistory(response: ApiResponse, id: string): Job | null {
  const body = response.json();
  if (!isObject(body)) throw providerFailure("unavailable", response, { message: "It answered no history." });
  const item = body[id];
  if (!isObject(item)) return null;
  const { prompt, outputs, status } = item;
  const log = asObject(status);
  if (log["status_str"] === "error") return ended(log, undefined);
  const [, , , extraData] = Array.isArray(prompt) ? (prompt as readonly unknown[]) : [];
  return { state: "completed", outputs: asObject(outputs), extraData: asObject(extraData) };
}

/** Of `/queue`; null: it is not there. @throws {ProviderFailure} `unavailable` where it says nothing of the queue */
export function jobInQueue(response: ApiResponse, id: string): Job | null {
  const { queue_running: running, queue_pending: pending } = asObject(response.json());
  if (!Array.isArray(running) || !Array.isArray(pending))
    throw providerFailure("unavailable", response, { message: "It answered no queue." });
  const holds = (queue: readonly unknown[]): boolean => queue.some((item) => Array.isArray(item) && item[1] === id);
  return holds(running) ? { state: "running" } : holds(pending) ? { state: "pending" } : null;
}

/** What stopped is an error there too, by its status. */
function ended(log: JsonObject, given: unknown): Job {
  const messages = Array.isArray(log["messages"]) ? log["messages"] : [];
  const events = messages.filter((entry): entry is readonly unknown[] => Array.isArray(entry));
  const said = new Map(events.map(([event, data]) => [event, data]));
  if (said.has("execution_interrupted") && !isObject(given)) return cancelled();
  const error = asObject(given ?? said.get("execution_error"));
  const { exception_type: type, exception_message: text, node_type: node } = error;
  const code = typeof type === "string" && type !== "" ? type : "failed";
  const words = [code, ...[text, node].filter((word) => typeof word === "string" && word.trim() !== "")].join(": ");
  const message = `The job failed: ${words.replace(/\s+/g, " ").slice(0, 300)}`;
  return { state: "ended", failure: new ProviderFailure("failed", message, { providerCode: code }) };
}

function cancelled(): Job {
  return { state: "ended", failure: new ProviderFailure("cancelled", "The job was cancelled there.") };
}
