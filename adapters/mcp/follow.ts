import type { McpHost } from "./host.js";
import type { Progress, ServerContext } from "./sdk.js";

/**
 * Waits until a job has ended, at most for this time, and reports its progress.
 *
 * @throws {FermataError} the job cannot be followed
 */
export async function waitForEnd(
  { api, onError }: Pick<McpHost, "api" | "onError">,
  jobId: string,
  waitSeconds: number,
  { mcpReq }: Pick<ServerContext, "mcpReq">,
): Promise<void> {
  if (waitSeconds === 0) return;
  const signal = AbortSignal.any([mcpReq.signal, AbortSignal.timeout(waitSeconds * 1_000)]);
  const notifications = new Notifications(mcpReq, onError);
  notifications.add(REACHED.accepted, "accepted");
  try {
    const onProgress = (progress: Progress): void => notifications.add(reachedBy(progress), messageOf(progress));
    const { status } = await api.wait(jobId, { onProgress, signal });
    if (status === "completed") notifications.add(REACHED.completed, status);
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    await notifications.sent;
  }
}

/** In percent; what its provider says of a job lies between the other two. */
const REACHED = { accepted: 1, submitted: 5, rendered: 95, completed: 100 };
/** So that what is new can be reported, though the job has come no further. */
const STEP = 0.01;

/** Progress notifications of one call: each number is greater than the one before, as the protocol demands. */
class Notifications {
  /** Resolves when those that were added are sent. */
  sent: Promise<void> = Promise.resolve();
  private last = 0;
  private message = "";

  constructor(
    private readonly request: ServerContext["mcpReq"],
    private readonly onError: McpHost["onError"],
  ) {}

  add(reached: number, message: string): void {
    const progressToken = this.request._meta?.progressToken;
    if (progressToken === undefined || message === this.message) return;
    this.message = message;
    this.last = Math.max(reached, this.last + STEP);
    const params = { progressToken, progress: this.last, total: 100, message };
    this.sent = this.sent
      .then(() => this.request.notify({ method: "notifications/progress", params }))
      .catch((error: unknown) => {
        // The client is gone.
        if (!this.request.signal.aborted) this.onError(error);
      });
  }
}

function reachedBy({ percent }: Progress): number {
  return percent === null ? 0 : REACHED.submitted + (percent / 100) * (REACHED.rendered - REACHED.submitted);
}

function messageOf({ state, percent, waiting_before: before, queue_position: position }: Progress): string {
  const details = [
    ...(percent === null ? [] : [`${percent} %`]),
    ...(before === null ? [] : [`${before} jobs before it`]),
    ...(position === null ? [] : [`${position} before it at the provider`]),
  ];
  return `${state}${details.length === 0 ? "" : `: ${details.join(", ")}`}`;
}
