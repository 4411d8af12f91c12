import { Members, type Member } from "../../../core/members.js";

const ABORTED = "it was aborted";

/** The end of one delivery attempt: it timed out, or was aborted. */
export class Deadline implements Member {
  place = -1;
  /** On the clock of `performance.now()`. */
  readonly startedAt = performance.now();
  private readonly timer: NodeJS.Timeout;
  private listeners: readonly (() => void)[] = [];
  private because: string | null = null;

  /** @param outer aborts it, as {@link Deadlines} see to */
  constructor(
    timeoutMs: number,
    readonly outer: AbortSignal,
  ) {
    this.timer = setTimeout(() => this.abort(`it was not over within ${timeoutMs} ms`), timeoutMs);
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
    this.listeners = [...this.listeners, listener];
  }

  forget(listener: () => void): void {
    this.listeners = this.listeners.filter((one) => one !== listener);
  }

  /** Ends it now; the first reason counts. */
  abort(reason: string): void {
    if (this.isOver) return;
    this.because = reason;
    for (const listener of this.listeners) listener();
  }

  /** Forgets the timer. */
  clear(): void {
    clearTimeout(this.timer);
  }
}

/** The deadlines of one sender. */
export class Deadlines {
  private readonly underWay = new Members<Deadline>();
  private readonly heard = new WeakSet<AbortSignal>();

  /** @param outer the signal of a stopping process aborts many attempts: it gets one listener for all of them */
  begin(timeoutMs: number, outer: AbortSignal): Deadline {
    const deadline = new Deadline(timeoutMs, outer);
    this.underWay.add(deadline);
    if (outer.aborted) deadline.abort(ABORTED);
    else this.hear(outer);
    return deadline;
  }

  end(deadline: Deadline): void {
    deadline.clear();
    this.underWay.delete(deadline);
  }

  abortAll(reason: string): void {
    for (const deadline of [...this.underWay]) deadline.abort(reason);
  }

  private hear(signal: AbortSignal): void {
    if (this.heard.has(signal)) return;
    this.heard.add(signal);
    const abort = (): void => {
      for (const deadline of [...this.underWay]) if (deadline.outer === signal) deadline.abort(ABORTED);
    };
    signal.addEventListener("abort", abort, { once: true });
  }
}
