/** Lets a fixed number of tasks run at a time, in order of arrival. */
export class Slots {
  private readonly waiting: (() => void)[] = [];
  private taken = 0;

  constructor(private readonly count: number) {}

  /** Resolves when a slot is free, with the function that frees it. @throws the signal's reason */
  async take(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.taken < this.count) this.taken++;
    else await this.wait(signal);
    let isTaken = true;
    return () => {
      if (isTaken) this.free();
      isTaken = false;
    };
  }

  private wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const enter = (): void => {
        signal.removeEventListener("abort", leave);
        resolve();
      };
      const leave = (): void => {
        this.waiting.splice(this.waiting.indexOf(enter), 1);
        reject(signal.reason as Error);
      };
      this.waiting.push(enter);
      signal.addEventListener("abort", leave, { once: true });
    });
  }

  /** The task that waits longest gets the slot. */
  private free(): void {
    const next = this.waiting.shift();
    if (next !== undefined) return next();
    this.taken--;
  }
}
