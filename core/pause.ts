import type { Clock } from "./ports/clock.js";

/** One wait at a time, which can be ended early. */
export class Pause {
  private controller: AbortController | null = null;

  constructor(private readonly clock: Clock) {}

  /** @returns whether it was a whole one */
  async of(ms: number): Promise<boolean> {
    const controller = new AbortController();
    this.controller = controller;
    await this.clock.sleep(Math.max(0, ms), controller.signal);
    this.controller = null;
    return !controller.signal.aborted;
  }

  end(): void {
    // A reason of its own: the standard one is an exception with a stack.
    this.controller?.abort("ended");
  }
}
