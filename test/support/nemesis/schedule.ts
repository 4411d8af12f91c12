import { setTimeout as sleep } from "node:timers/promises";
import type { Fault, FaultDeps } from "./faults.js";
import { seconds } from "./history.js";

export interface ScheduleOptions {
  readonly faultsAtOnce: number;
  readonly gapMs: readonly [number, number];
}

/** Injects faults, some at once, in a random order in which each comes before one comes again. */
export class Schedule {
  /** What was injected when, a line each. */
  readonly lines: string[] = [];
  readonly counts: Record<string, number> = {};
  /** What is hit now. */
  private readonly hit = new Set<string>();
  private deck: Fault[] = [];

  constructor(
    private readonly faults: readonly Fault[],
    private readonly deps: FaultDeps,
    private readonly now: () => number,
  ) {}

  /** Until `time` is over, or `signal` aborts; resolves when every fault has gone right again. */
  async run(time: Promise<unknown>, signal: AbortSignal, { faultsAtOnce, gapMs }: ScheduleOptions): Promise<void> {
    let isOver = false;
    void time.then(() => (isOver = true));
    const open = new Set<Promise<void>>();
    const all: Promise<void>[] = [];
    while (!isOver && !signal.aborted) {
      await Promise.race([time, sleep(this.deps.random.between(...gapMs))]);
      const next = isOver || open.size >= faultsAtOnce ? null : this.draw();
      if (next === null) continue;
      this.deps.fleet.checkAlive();
      const injected = this.inject(...next).finally(() => open.delete(injected));
      open.add(injected);
      all.push(injected);
      // The first failure ends the run.
      injected.catch(() => (isOver = true));
    }
    await Promise.allSettled(all);
    await Promise.all(all);
  }

  private async inject(fault: Fault, target: string): Promise<void> {
    const name = `${fault.name}: ${target.replace(/ \d$/, "")}`;
    this.counts[name] = (this.counts[name] ?? 0) + 1;
    const line = this.lines.push("") - 1;
    const note = (end: string): void => void (this.lines[line] = `${begin}-${end} ${fault.name}: ${target}`);
    const begin = seconds(this.now());
    note("");
    this.hit.add(target);
    try {
      await fault.inject(target, this.deps);
    } finally {
      this.hit.delete(target);
      note(`${seconds(this.now())} s`);
    }
  }

  /** The next fault of the deck that has a target which nothing hits now; null: none has. */
  private draw(): [Fault, string] | null {
    const { random, fleet } = this.deps;
    if (this.deck.length === 0) this.deck = random.shuffled(this.faults);
    for (const [index, fault] of this.deck.entries()) {
      const target = random.pick(fault.targets(fleet).filter((name) => !this.hit.has(name)));
      if (target === undefined) continue;
      this.deck.splice(index, 1);
      return [fault, target];
    }
    // What is left has no target at all, such as a disk that could not be mounted, or has to wait.
    this.deck = this.deck.filter((fault) => fault.targets(fleet).length > 0);
    return null;
  }
}
