import { Lane, LANE_DEFAULTS, type LaneOptions, type OnGroup, type RunGroup, Siblings } from "./lane.js";
import type { Clock } from "./ports/clock.js";

/** How long commands of a key stay out of the groups of others after one of them spoilt a group. */
const APART_MS = 30_000;

/**
 * Lanes by account: all commands of an account share one, so that its balance row has one writer per process. An
 * account whose command spoilt a group has its commands in a lane apart for a while.
 */
export class Lanes<Command, Result> {
  private readonly lanes: readonly Lane<Command, Result>[];
  private readonly apart: Lane<Command, Result>;
  /** Until when, by key. */
  private readonly spoilt = new Map<string, number>();

  constructor(
    count: number,
    runGroup: RunGroup<Command, Result>,
    private readonly clock: Clock,
    options: LaneOptions = LANE_DEFAULTS,
    onGroup: OnGroup | null = null,
  ) {
    const onSpoilt = (key: string): void => void this.spoilt.set(key, this.clock.now() + APART_MS);
    const newLane = (siblings = new Siblings()): Lane<Command, Result> =>
      new Lane(runGroup, clock, options, onGroup, onSpoilt, siblings);
    const siblings = new Siblings();
    this.lanes = Array.from({ length: count }, () => newLane(siblings));
    this.apart = newLane();
  }

  submit(key: string, command: Command): Promise<Result> {
    if (this.isApart(key)) return this.apart.submit(command, key);
    let hash = 0;
    for (let index = 0; index < key.length; index++) hash = (hash * 31 + key.charCodeAt(index)) | 0;
    const lane = this.lanes[Math.abs(hash) % this.lanes.length] as Lane<Command, Result>;
    return lane.submit(command, key);
  }

  async idle(): Promise<void> {
    await Promise.all([...this.lanes, this.apart].map((lane) => lane.idle()));
  }

  /** Whether a group is being written, or is about to be. */
  get isWriting(): boolean {
    return [...this.lanes, this.apart].some((lane) => lane.isWriting);
  }

  private isApart(key: string): boolean {
    const until = this.spoilt.get(key);
    if (until === undefined) return false;
    if (until > this.clock.now()) return true;
    this.spoilt.delete(key);
    return false;
  }
}
