import { RateLimitedError } from "../errors.js";

const RETRY_AFTER_SECONDS = 5;

/** How much of one kind an account, or another subject, may have under way at once, in this process. */
export class ConcurrencyBudget {
  private readonly underWay = new Map<string, number>();

  /** @param what names what there is too much of: "requests at once from one network" */
  constructor(
    private readonly max: number,
    private readonly what: string,
  ) {}

  /**
   * Counts one until it is released.
   *
   * @returns releases it, once; further calls change nothing
   * @throws {RateLimitedError} the subject has as many under way as it may; this one was not counted
   */
  enter(subject: string): () => void {
    const release = this.tryEnter(subject);
    if (release === null) throw this.toError();
    return release;
  }

  /** The same. @returns null where {@link enter} throws */
  tryEnter(subject: string): (() => void) | null {
    const count = this.underWay.get(subject) ?? 0;
    if (count >= this.max) return null;
    this.underWay.set(subject, count + 1);
    let isReleased = false;
    return () => {
      if (!isReleased) this.release(subject);
      isReleased = true;
    };
  }

  private release(subject: string): void {
    const left = (this.underWay.get(subject) ?? 0) - 1;
    if (left > 0) this.underWay.set(subject, left);
    else this.underWay.delete(subject);
  }

  private toError(): RateLimitedError {
    return new RateLimitedError(
      { limit: this.max, window_seconds: 0, retry_after_seconds: RETRY_AFTER_SECONDS },
      `More than ${this.max} ${this.what}. Try again in ${RETRY_AFTER_SECONDS} s.`,
    );
  }
}
