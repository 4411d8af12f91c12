const ABORTED = "it was aborted";

/** The signal of a stopping process aborts all delivery attempts: it gets one listener for all of them. */
const followers = new WeakMap<AbortSignal, Set<Deadline>>();

/** The end of one delivery attempt: it timed out, or was aborted. */
export class Deadline {
  /** On the clock of `performance.now()`. */
  readonly startedAt = performance.now();
  private readonly timer: NodeJS.Timeout;
  private readonly listeners = new Set<() => void>();
  private because: string | null = null;

  constructor(
    timeoutMs: number,
    private readonly outer: AbortSignal,
  ) {
    this.timer = setTimeout(() => this.abort(`it was not over within ${timeoutMs} ms`), timeoutMs);
    if (outer.aborted) this.abort(ABORTED);
    else followersOf(outer).add(this);
  }

  /** For functions that take a signal. Most attempts need none, and it costs more than the rest of a deadline. */
  signal(): AbortSignal {
    const controller = new AbortController();
    const abort = (): void => controller.abort();
    if (this.isOver) abort();
    else this.whenOver(abort);
    return controller.signal;
  }

  get isOver(): boolean {
    return this.because !== null;
  }

  /** Why it is over; empty while it is not. */
  get reason(): string {
    return this.because ?? "";
  }

  get passedMs(): number {
    return performance.now() - this.startedAt;
  }

  /** Calls the listener when it is over, unless it is forgotten before. */
  whenOver(listener: () => void): void {
    this.listeners.add(listener);
  }

  forget(listener: () => void): void {
    this.listeners.delete(listener);
  }

  /** Ends it now; the first reason counts. */
  abort(reason: string): void {
    if (this.isOver) return;
    this.because = reason;
    for (const listener of [...this.listeners]) listener();
  }

  /** Forgets timer and outer signal. */
  clear(): void {
    clearTimeout(this.timer);
    followers.get(this.outer)?.delete(this);
  }
}

function followersOf(signal: AbortSignal): Set<Deadline> {
  const known = followers.get(signal);
  if (known !== undefined) return known;
  const deadlines = new Set<Deadline>();
  followers.set(signal, deadlines);
  signal.addEventListener("abort", () => deadlines.forEach((deadline) => deadline.abort(ABORTED)), { once: true });
  return deadlines;
}
