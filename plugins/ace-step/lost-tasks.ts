/** How long a server must have had nothing to do. */
const IDLE_MS = 5_000;
/** Tasks of which nobody has asked for this long are forgotten. */
const FORGOTTEN_MS = 3_600_000;

interface Seen {
  readonly progress: string;
  readonly at: number;
  /** Since when the server is known to have nothing to do; null: it is not. */
  readonly idleSince: number | null;
}

/**
 * Finds tasks that a restart of the server has ended: they say for an hour that they run. Theirs stand still while the
 * server, asked twice, has nothing to do.
 */
export class LostTasks {
  private readonly seen = new Map<string, Seen>();

  /**
   * Remembers a task as it was just polled.
   *
   * @param progress null: the server does not work on it
   * @returns whether it stands still: the server should be asked for its load
   */
  standsStill(taskId: string, progress: string | null, now: number): boolean {
    if (progress === null) {
      this.seen.delete(taskId);
      return false;
    }
    const before = this.seen.get(taskId);
    const isSame = before?.progress === progress;
    this.seen.set(taskId, { progress, at: now, idleSince: isSame ? before.idleSince : null });
    return isSame;
  }

  /** @param isIdle of the server, just now @returns whether the task, which stands still, is lost */
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
