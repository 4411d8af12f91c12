/** Lets so many at a time in, in order of arrival. */
export class Turns {
  private readonly waiting: (() => void)[] = [];
  private taken = 0;
  private whenIdle: (() => void)[] = [];

  constructor(private readonly places: number) {}

  /** Resolves when there is a place, with the way to free it. @throws the signal's reason */
  async take(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.taken < this.places) this.taken++;
    else await this.wait(signal);
    return () => this.free();
  }

  /** Resolves when nobody has a place. */
  async idle(): Promise<void> {
    if (this.taken > 0) await new Promise<void>((resolve) => this.whenIdle.push(resolve));
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

  /** The place goes to whoever waits longest. */
  private free(): void {
    const next = this.waiting.shift();
    if (next !== undefined) return next();
    this.taken--;
    if (this.taken === 0) for (const resolve of this.whenIdle.splice(0)) resolve();
  }
}
