/**
 * Does something when a wait is over in vain. A process that was busy all that time may have the answer lying there: it is looked at
 * first.
 *
 * @returns ends the wait
 */
export function afterWaiting(ms: number, giveUp: () => void): () => void {
  let last: NodeJS.Immediate | undefined;
  const wait = setTimeout(() => {
    last = setImmediate(giveUp);
  }, ms);
  return () => {
    clearTimeout(wait);
    clearImmediate(last);
  };
}

/** A statement without an answer: the server is slow, or it hangs. */
export interface LateAnswers {
  /** When the first look is due; each further one after twice as long. */
  readonly lateMs: number;
  /** Whether it is worth while to wait on. */
  isServerThere(): Promise<boolean>;
}

/**
 * Gives an answer up after `limitMs`, or as soon as it is late and the server is not there.
 *
 * @returns ends the wait; after that nothing is given up any more
 */
export function afterWaitingFor(limitMs: number, late: LateAnswers | undefined, giveUp: () => void): () => void {
  let isOver = false;
  let stopLooking = (): void => undefined;
  const end = (): void => {
    isOver = true;
    stopWaiting();
    stopLooking();
  };
  const giveUpOnce = (): void => {
    if (!isOver) giveUp();
    end();
  };
  const stopWaiting = afterWaiting(limitMs, giveUpOnce);
  const lookIn = (ms: number): void => {
    stopLooking = afterWaiting(ms, () => {
      void late?.isServerThere().then((isThere) => {
        if (!isThere) giveUpOnce();
        else if (!isOver) lookIn(ms * 2);
      });
    });
  };
  if (late !== undefined) lookIn(late.lateMs);
  return end;
}
