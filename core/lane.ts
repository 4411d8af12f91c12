import { ServiceUnavailableError } from "./errors.js";
import type { Clock } from "./ports/clock.js";

export interface LaneOptions {
  /** Most commands in one transaction. */
  readonly groupMax: number;
  /** Most commands that wait; more are refused. */
  readonly waitingMax: number;
  /** The longest a command waits for its group, in milliseconds. */
  readonly waitMaxMs: number;
}

export const LANE_DEFAULTS: LaneOptions = { groupMax: 256, waitingMax: 2_000, waitMaxMs: 5_000 };

/** Called for each group when it begins, with how long each of its commands has waited, in seconds. */
export type OnGroup = (waitsSeconds: readonly number[]) => void;

interface Waiting<Command, Result> {
  readonly command: Command;
  readonly since: number;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/**
 * Group commit: runs one group at a time and takes into the next everything that arrived meanwhile. Alone when idle,
 * grouped under pressure, with no timer. A group that fails is halved until the failing command is alone.
 */
export class Lane<Command, Result> {
  private waiting: Waiting<Command, Result>[] = [];
  private running: Promise<void> | null = null;

  /** @param runGroup one result per command, in their order; it rejects when nothing was written */
  constructor(
    private readonly runGroup: (commands: readonly Command[]) => Promise<readonly Result[]>,
    private readonly clock: Clock,
    private readonly options: LaneOptions = LANE_DEFAULTS,
    private readonly onGroup: OnGroup | null = null,
  ) {}

  /** @throws {ServiceUnavailableError} too many wait, or this one waited too long; nothing was done */
  submit(command: Command): Promise<Result> {
    if (this.waiting.length >= this.options.waitingMax) {
      return Promise.reject(new ServiceUnavailableError("The service is overloaded. Try again."));
    }
    return new Promise<Result>((resolve, reject) => {
      this.waiting.push({ command, since: this.clock.now(), resolve, reject });
      this.running ??= this.drain();
    });
  }

  /** Resolves when nothing waits or runs any more. */
  async idle(): Promise<void> {
    await this.running;
  }

  private async drain(): Promise<void> {
    // One turn of the microtask queue, so that commands of the same tick share the first group.
    await Promise.resolve();
    while (this.waiting.length > 0) {
      const group = this.waiting.splice(0, this.options.groupMax);
      const inTime = this.refuseLate(group);
      this.report(inTime);
      await this.settleGroup(inTime);
    }
    this.running = null;
  }

  private refuseLate(group: Waiting<Command, Result>[]): Waiting<Command, Result>[] {
    const oldest = this.clock.now() - this.options.waitMaxMs;
    return group.filter((member) => {
      if (member.since >= oldest) return true;
      member.reject(new ServiceUnavailableError("The service is overloaded. Try again."));
      return false;
    });
  }

  private report(group: readonly Waiting<Command, Result>[]): void {
    if (this.onGroup === null || group.length === 0) return;
    const now = this.clock.now();
    this.onGroup(group.map(({ since }) => (now - since) / 1000));
  }

  private async settleGroup(group: readonly Waiting<Command, Result>[]): Promise<void> {
    if (group.length === 0) return;
    try {
      const results = await this.runGroup(group.map((member) => member.command));
      group.forEach((member, index) => member.resolve(results[index] as Result));
    } catch (error) {
      if (group.length === 1 || error instanceof ServiceUnavailableError) {
        group.forEach((member) => member.reject(error));
        return;
      }
      const half = Math.ceil(group.length / 2);
      await this.settleGroup(group.slice(0, half));
      await this.settleGroup(group.slice(half));
    }
  }
}

/** Lanes by account: all commands of an account share one, so that its balance row has one writer per process. */
export class Lanes<Command, Result> {
  private readonly lanes: readonly Lane<Command, Result>[];

  constructor(
    count: number,
    runGroup: (commands: readonly Command[]) => Promise<readonly Result[]>,
    clock: Clock,
    options: LaneOptions = LANE_DEFAULTS,
    onGroup: OnGroup | null = null,
  ) {
    this.lanes = Array.from({ length: count }, () => new Lane(runGroup, clock, options, onGroup));
  }

  submit(key: string, command: Command): Promise<Result> {
    let hash = 0;
    for (let index = 0; index < key.length; index++) hash = (hash * 31 + key.charCodeAt(index)) | 0;
    const lane = this.lanes[Math.abs(hash) % this.lanes.length] as Lane<Command, Result>;
    return lane.submit(command);
  }

  async idle(): Promise<void> {
    await Promise.all(this.lanes.map((lane) => lane.idle()));
  }
}
