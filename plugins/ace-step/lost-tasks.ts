/** How long the server must have been idle. */
const IDLE_MS = 5_000;
/** Tasks that were not polled for this long are forgotten. */
const FORGOTTEN_MS = 3_600_000;

interface Seen {
  readonly progress: string;
  readonly at: number;
  /** Since when the server is known to be idle; null: it is not. */
  readonly idleSince: number | null;
}

/**
 * Detects tasks that were lost in a restart of the server, which reports them as running for an hour. Their progress
 * does not change while the server is idle at two polls in a row.
 */
export class LostTasks {
  private readonly seen = new Map<string, Seen>();

  /**
   * Records the progress of a task at this poll.
   *
   * @param progress null: the server does not work on the task
   * @returns whether the progress is that of the poll before: the server's load should be read
   */
  isStalled(taskId: string, progress: string | null, now: number): boolean {
    if (progress === null) {
      this.seen.delete(taskId);
      return false;
    }
    const before = this.seen.get(taskId);
    const isSame = before?.progress === progress;
    this.seen.set(taskId, { progress, at: now, idleSince: isSame ? before.idleSince : null });
    return isSame;
  }

  /** @param isIdle whether the server is idle now @returns whether the task, whose progress stands still, is lost */
  isLost(taskId: string, isIdle: boolean, now: number): boolean {
    const seen = this.seen.get(taskId);
    if (seen === undefined) return false;
    const idleSince = isIdle ? (seen.idleSince ?? now) : null;
    this.seen.set(taskId, { ...seen, idleSince });
    return idleSince !== null && now - idleSince >= IDLE_MS;
  }

  forgetOld(now: number): void {
    for (const [taskId, { at }] of this.seen) if (now - at > FORGOTTEN_MS) this.seen.delete(taskId);
  }
}
