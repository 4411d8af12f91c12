import { bagOf, failureOf, ProviderApi, providerFailure } from "../../core/ports/music-provider.js";
import type { ApiAnswer, ApiCall, Bag, ProviderFailure, ProviderHost } from "../../core/ports/music-provider.js";

/** The API of beatoven.ai: compose, and ask after the task. */
export class BeatovenClient {
  private readonly api: ProviderApi;

  constructor({ settings, fetch }: ProviderHost) {
    this.api = new ProviderApi({
      fetch,
      baseUrl: String(settings["baseUrl"]),
      headers: { authorization: `Bearer ${String(settings["apiKey"])}` },
      timeoutMs: Number(settings["timeoutMs"]),
      judge,
    });
  }

  /** Starts billed work. @returns its task id */
  async compose(json: Bag, signal: AbortSignal): Promise<string> {
    const answer = await this.api.call({ path: "/api/v1/tracks/compose", json, creates: true, signal });
    const { task_id: taskId } = bagOf(answer.json());
    if (typeof taskId !== "string" || taskId === "") throw providerFailure("outcome_unknown", answer, { message: "It answered no task." });
    return taskId;
  }

  /** What it knows of a task: `status`, and `meta` when it is composed. */
  async task(taskId: string, signal: AbortSignal): Promise<Bag> {
    return bagOf((await this.api.call({ path: `/api/v1/tasks/${encodeURIComponent(taskId)}`, asksAfter: true, signal })).json());
  }
}

/** Errors are `{ error, detail? }`; statuses mean what they usually mean. */
function judge(answer: ApiAnswer, call: ApiCall): ProviderFailure | null {
  const usual = failureOf(answer, call);
  if (usual === null) return null;
  const { error, detail } = bagOf(answer.json());
  const isTheirs = typeof error === "string";
  const message = isTheirs ? [error, ...(detail === undefined ? [] : [textOf(detail)])].join(": ").slice(0, 300) : undefined;
  // That they do not know a task is believed only in words of theirs.
  return providerFailure(usual.kind === "gone" && !isTheirs ? "unavailable" : usual.kind, answer, message === undefined ? {} : { message });
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
