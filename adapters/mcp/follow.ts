import { setTimeout as delay } from "node:timers/promises";
import { ApiError, type Api } from "./api.js";
import type { ApiEvent } from "./read-events.js";
import type { ServerContext } from "./sdk.js";

const RECONNECT_MS = 2_000;
const RECONNECT_MAX_MS = 10_000;

/**
 * Waits until a job has ended, at most for this time, and reports its progress.
 *
 * @throws {ApiError} the job cannot be followed
 */
export async function waitForEnd(
  api: Api,
  jobId: string,
  waitSeconds: number,
  { mcpReq }: Pick<ServerContext, "mcpReq">,
): Promise<void> {
  if (waitSeconds === 0) return;
  const signal = AbortSignal.any([mcpReq.signal, AbortSignal.timeout(waitSeconds * 1_000)]);
  const progress = new Progress(mcpReq);
  let after: string | null = null;
  while (!signal.aborted) {
    try {
      let events = 0;
      for await (const event of api.events(jobId, after, signal)) {
        events++;
        after = event.id ?? after;
        await progress.report(event);
        if (event.name === "completed" || event.name === "failed") return;
      }
      if (events === 0) return; // The job had ended with the last event that came.
    } catch (error) {
      if (signal.aborted) return;
      const waitMs = reconnectMs(error);
      if (waitMs === null) throw error;
      await delay(waitMs, undefined, { signal }).catch(() => undefined);
    }
  }
}

/** null: connecting again would not help. */
function reconnectMs(error: unknown): number | null {
  // A stream that was cut off, after its headers.
  if (!(error instanceof ApiError)) return RECONNECT_MS;
  if (error.status !== 429 && error.status !== 0) return null;
  return Math.min((error.about.retryAfter ?? 0) * 1_000 || RECONNECT_MS, RECONNECT_MAX_MS);
}

/** What a job has reached by these events, in percent; that of its provider lies between the last two. */
const REACHED: Readonly<Record<string, number>> = {
  accepted: 1,
  attempt_started: 3,
  attempt_accepted: 5,
  attempt_finished: 95,
  files_stored: 98,
  completed: 100,
};
const RENDERING = { from: 5, to: 95 };
/** So that what is new can be told, though the job has come no further. */
const STEP = 0.01;

/** Progress notifications of one call: each number is greater than the one before, as the protocol demands. */
class Progress {
  private last = 0;
  private message = "";

  constructor(private readonly request: ServerContext["mcpReq"]) {}

  async report({ name, data }: ApiEvent): Promise<void> {
    const progressToken = this.request._meta?.progressToken;
    const message = messageOf(name, data);
    if (progressToken === undefined || message === null || message === this.message) return;
    this.message = message;
    this.last = Math.max(reachedBy(name, data), Math.min(this.last + STEP, 100));
    const params = { progressToken, progress: this.last, total: 100, message };
    await this.request.notify({ method: "notifications/progress", params });
  }
}

function reachedBy(name: string, { percent }: ApiEvent["data"]): number {
  if (name !== "outlook") return REACHED[name] ?? 0;
  return typeof percent === "number" ? RENDERING.from + (percent / 100) * (RENDERING.to - RENDERING.from) : 0;
}

function messageOf(name: string, data: ApiEvent["data"]): string | null {
  if (name !== "outlook") return name in REACHED || name === "attempt_failed" ? name.replaceAll("_", " ") : null;
  const { state, percent, waiting_before: before, queue_position: position } = data;
  const details = [
    ...(typeof percent === "number" ? [`${percent} %`] : []),
    ...(typeof before === "number" ? [`${before} jobs before it`] : []),
    ...(typeof position === "number" ? [`${position} before it at the provider`] : []),
  ];
  return `${String(state)}${details.length === 0 ? "" : `: ${details.join(", ")}`}`;
}
