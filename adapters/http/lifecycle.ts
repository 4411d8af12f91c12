import type { ServerResponse } from "node:http";

/** What is being answered right now, and whether the server stops. */
export class Lifecycle {
  private readonly inFlight = new Set<ServerResponse>();
  private readonly stop = new AbortController();
  private whenIdle: (() => void) | null = null;

  /** Aborts when the server begins to stop. */
  readonly stopping: AbortSignal = this.stop.signal;

  begin(response: ServerResponse): void {
    if (this.stopping.aborted) response.shouldKeepAlive = false;
    this.inFlight.add(response);
  }

  end(response: ServerResponse): void {
    this.inFlight.delete(response);
    if (this.inFlight.size === 0) this.whenIdle?.();
  }

  /** Ends waits, and lets every connection close after the answer it carries. */
  beginStop(): void {
    this.stop.abort();
    for (const response of this.inFlight) response.shouldKeepAlive = false;
  }

  /** Resolves when no answer is under way. */
  async idle(): Promise<void> {
    if (this.inFlight.size > 0) await new Promise<void>((resolve) => (this.whenIdle = resolve));
  }
}
