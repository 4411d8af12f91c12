/** Ends a request when the server is silent for too long; the time runs only while it is the server's turn. */
export class Watchdog {
  private readonly abort = new AbortController();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly silenceMaxMs: number) {}

  get signal(): AbortSignal {
    return this.abort.signal;
  }

  /** From now on it is the server's turn. */
  start(): void {
    clearTimeout(this.timer);
    const error = new Error(`nothing happened for ${this.silenceMaxMs} ms`);
    this.timer = setTimeout(() => this.abort.abort(error), this.silenceMaxMs);
  }

  stop(): void {
    clearTimeout(this.timer);
  }
}
