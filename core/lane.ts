import { RowsLockedError, ServiceUnavailableError } from "./errors.js";
import { Pause } from "./pause.js";
import type { Clock } from "./ports/clock.js";

/**
 * In the place of a command's result: another transaction holds rows that it needs. Nothing was written of it, and it
 * is taken into a later group.
 */
export const BUSY: unique symbol = Symbol("busy");

export interface LaneOptions {
  /** Most commands in one transaction. */
  readonly groupMax: number;
  /** Most commands that wait; more are refused. */
  readonly waitingMax: number;
  /** The longest a command waits for its group, in milliseconds. */
  readonly waitMaxMs: number;
  /** The longest a command waits for rows that others hold, from its submission on, in milliseconds. */
  readonly busyMaxMs: number;
}

export const LANE_DEFAULTS: LaneOptions = { groupMax: 256, waitingMax: 2_000, waitMaxMs: 5_000, busyMaxMs: 1_000 };

/** Between two groups that take the same busy command: this at first, twice as long each time. */
const BUSY_WAIT_MIN_MS = 2;
const BUSY_WAIT_MAX_MS = 50;
/**
 * While another lane writes a group, the next one begins with so many commands, or once the first of them has waited
 * for so long: two small groups at once cost more than one after the other.
 */
const ALONGSIDE_MIN = 16;
const ALONGSIDE_WAIT_MS = 5;

/** Called for each group when it begins, with how long each of its commands has waited, in seconds. */
export type OnGroup = (waitsSeconds: readonly number[]) => void;

/**
 * @param isAgain an earlier run may have written some of the commands, if the reply to its commit was lost
 * @returns one result per command, in their order
 * @throws when nothing was written
 */
export type RunGroup<Command, Result> = (
  commands: readonly Command[],
  isAgain: boolean,
) => Promise<readonly (Result | typeof BUSY)[]>;

interface Waiting<Command, Result> {
  readonly key: string;
  readonly command: Command;
  readonly since: number;
  /** How often it was busy, and when it is tried again. */
  busy: number;
  notBefore: number;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/** Lanes that share a storage, and how many groups they are writing. */
export class Siblings {
  private readonly onEnded: (() => void)[] = [];
  private writing = 0;

  /** @param onEnded called whenever one of them has written a group */
  add(onEnded: () => void): void {
    this.onEnded.push(onEnded);
  }

  get areWriting(): boolean {
    return this.writing > 0;
  }

  begin(): void {
    this.writing += 1;
  }

  end(): void {
    this.writing -= 1;
    for (const ended of this.onEnded) ended();
  }
}

/**
 * Group commit: runs one group at a time and takes into the next everything that arrived meanwhile. Alone when idle,
 * grouped under pressure, with no timer but while a sibling writes. A group that fails is halved until the failing
 * command is alone; a command whose rows are held elsewhere goes to the next group and holds up no other.
 */
export class Lane<Command, Result> {
  private waiting: Waiting<Command, Result>[] = [];
  private running: Promise<void> | null = null;
  private isWatched = false;
  private isWaiting = false;
  private readonly pause: Pause;
  private readonly watch: Pause;
  private readonly gathering: Pause;

  /**
   * @param onSpoilt called with the key of a command that failed alone, other than by an unavailable storage
   * @param siblings it is one of them
   */
  constructor(
    private readonly runGroup: RunGroup<Command, Result>,
    private readonly clock: Clock,
    private readonly options: LaneOptions = LANE_DEFAULTS,
    private readonly onGroup: OnGroup | null = null,
    private readonly onSpoilt: (key: string) => void = () => undefined,
    private readonly siblings = new Siblings(),
  ) {
    this.pause = new Pause(clock);
    this.watch = new Pause(clock);
    this.gathering = new Pause(clock);
    siblings.add(() => this.gathering.end());
  }

  /** @throws {ServiceUnavailableError} too many wait, or this one waited too long; nothing was done */
  submit(command: Command, key = ""): Promise<Result> {
    if (this.waiting.length >= this.options.waitingMax) return Promise.reject(overloaded());
    return new Promise<Result>((resolve, reject) => {
      const now = this.clock.now();
      this.waiting.push({ key, command, since: now, busy: 0, notBefore: now, resolve, reject });
      this.pause.end();
      if (this.waiting.length >= ALONGSIDE_MIN) this.gathering.end();
      if (this.running === null) this.running = this.drain();
      else if (!this.isWatched) void this.refuseInTime();
    });
  }

  /** Resolves when nothing waits or runs any more. */
  async idle(): Promise<void> {
    await this.running;
  }

  /** Whether a group is being written, or is about to be. */
  get isWriting(): boolean {
    return this.running !== null && !this.isWaiting;
  }

  private async drain(): Promise<void> {
    // One turn of the microtask queue, so that commands of the same tick share the first group.
    await Promise.resolve();
    let due = this.clock.now();
    while (this.waiting.length > 0) {
      if (await this.gather()) due = Math.max(due, this.clock.now());
      this.refuseLate();
      const group = this.nextGroup(due);
      if (group.length > 0) {
        this.report(group);
        this.siblings.begin();
        try {
          await this.settleGroup(group);
        } finally {
          this.siblings.end();
        }
        due = this.clock.now();
      } else if (this.waiting.length > 0) {
        due = await this.untilDue();
      }
    }
    this.running = null;
    this.watch.end();
  }

  /** @returns whether it has waited for more commands, or for the group of a sibling to end */
  private async gather(): Promise<boolean> {
    const [first] = this.waiting;
    if (first === undefined || !this.siblings.areWriting || this.waiting.length >= ALONGSIDE_MIN) return false;
    // Not by the clock alone, which may be set back.
    const waitMs = Math.min(first.since + ALONGSIDE_WAIT_MS - this.clock.now(), ALONGSIDE_WAIT_MS);
    if (waitMs <= 0) return false;
    await this.gathering.of(waitMs);
    return true;
  }

  /**
   * Where only busy ones wait: until the first is to be tried again, or another command arrives. Not by the clock
   * alone, which may be set back.
   *
   * @returns up to when they are due
   */
  private async untilDue(): Promise<number> {
    const first = Math.min(...this.waiting.map(({ notBefore }) => notBefore));
    this.isWaiting = true;
    const hasSlept = await this.pause.of(Math.min(first - this.clock.now(), BUSY_WAIT_MAX_MS));
    this.isWaiting = false;
    return hasSlept ? Math.max(first, this.clock.now()) : this.clock.now();
  }

  private nextGroup(due: number): Waiting<Command, Result>[] {
    const group: Waiting<Command, Result>[] = [];
    this.waiting = this.waiting.filter((member) => {
      if (group.length >= this.options.groupMax || member.notBefore > due) return true;
      group.push(member);
      return false;
    });
    return group;
  }

  /** Refuses in time also while a group takes long. */
  private async refuseInTime(): Promise<void> {
    this.isWatched = true;
    while (this.waiting.length > 0) {
      const first = Math.min(...this.waiting.map((member) => this.deadlineOf(member)));
      await this.watch.of(first + 1 - this.clock.now());
      this.refuseLate();
    }
    this.isWatched = false;
  }

  private refuseLate(): void {
    const now = this.clock.now();
    this.waiting = this.waiting.filter((member) => {
      if (now <= this.deadlineOf(member)) return true;
      member.reject(member.busy > 0 ? new RowsLockedError() : overloaded());
      return false;
    });
  }

  private deadlineOf({ since, busy }: Waiting<Command, Result>): number {
    return since + (busy > 0 ? this.options.busyMaxMs : this.options.waitMaxMs);
  }

  private report(group: readonly Waiting<Command, Result>[]): void {
    if (this.onGroup === null) return;
    const now = this.clock.now();
    this.onGroup(group.map(({ since }) => (now - since) / 1000));
  }

  private async settleGroup(group: readonly Waiting<Command, Result>[]): Promise<void> {
    try {
      const commands = group.map((member) => member.command);
      const isAgain = group.some(({ busy }) => busy > 0);
      const results = await this.runGroup(commands, isAgain);
      const busy = group.filter((_, index) => results[index] === BUSY);
      if (busy.length > 0) this.postpone(busy);
      group.forEach((member, index) => {
        const result = results[index] as Result | typeof BUSY;
        if (result !== BUSY) member.resolve(result);
      });
    } catch (error) {
      const isUnavailable = error instanceof ServiceUnavailableError;
      // No command is at fault for an unavailable storage, and one is for a lock that lasts.
      if (group.length === 1 || (isUnavailable && !(error instanceof RowsLockedError))) {
        if (!isUnavailable) group.forEach(({ key }) => this.onSpoilt(key));
        group.forEach((member) => member.reject(error));
        return;
      }
      const half = Math.ceil(group.length / 2);
      await this.settleGroup(group.slice(0, half));
      await this.settleGroup(group.slice(half));
    }
  }

  /** They came first, and are first in the group that takes them. */
  private postpone(busy: readonly Waiting<Command, Result>[]): void {
    const now = this.clock.now();
    for (const member of busy) {
      const waitMs = Math.min(BUSY_WAIT_MIN_MS * 2 ** member.busy, BUSY_WAIT_MAX_MS);
      member.busy += 1;
      member.notBefore = Math.min(now + waitMs, this.deadlineOf(member) + 1);
    }
    this.waiting.unshift(...busy);
  }
}

function overloaded(): ServiceUnavailableError {
  return new ServiceUnavailableError("The service is overloaded. Try again.");
}
