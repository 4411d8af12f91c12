import type { SeededRandom } from "../chaos/seeded-random.js";
import { History } from "./history.js";

/** The one that waits: a process, which may die, or the world around the processes, which does not. */
export interface Actor {
  readonly name: string;
  isDead: boolean;
  /** It is frozen until then: what it waits for has come, and it does not go on. */
  frozenUntil?: number;
}

interface Step {
  readonly actor: Actor;
  readonly label: string;
  /** It comes after all timers of its actor that are due. */
  readonly isTurn?: boolean;
  resume(): void;
  /** Takes its listener off the signal that would end it, which keeps all around it alive. */
  forget?(): void;
}

interface Timer extends Step {
  readonly at: number;
  readonly number: number;
}

/** What a dead node waits for. */
export function never<T>(): Promise<T> {
  return new Promise<T>(() => undefined);
}

const TIMER = "timer";
/** A run has some thousands: one with more goes round in circles. */
const STEPS_MAX = 30_000;
/** At most so many turns of the event loop belong to one step: stores let go of the thread between pages. */
const TURNS_MAX = 1_000;

/**
 * Time and order of a simulation. All that waits waits for a step or a timer of this scheduler, so that it decides
 * by its random numbers alone which of the waiting ones goes on next; time passes when none is ready.
 */
export class Scheduler {
  readonly history = new History();
  /** How many steps there were. */
  steps = 0;
  /** Whether what the last step began is still at work, in later turns of the event loop. */
  isBusy: () => boolean = () => false;
  private ready: Step[] = [];
  private timers: Timer[] = [];
  private timersSoFar = 0;

  constructor(
    private readonly random: SeededRandom,
    private time: number,
  ) {}

  /** The true time, which no node knows exactly. */
  now(): number {
    return this.time;
  }

  /** Resolves when it is this step's turn; never once the actor is dead. */
  step(actor: Actor, label: string): Promise<void> {
    if (actor.isDead) return never();
    return new Promise((resume) => this.ready.push({ actor, label, resume }));
  }

  /** As {@link step}, once the timers of the actor that are due have been carried out: a turn of its event loop. */
  turn(actor: Actor, label: string): Promise<void> {
    if (actor.isDead) return never();
    return new Promise((resume) => this.ready.push({ actor, label, isTurn: true, resume }));
  }

  sleep(actor: Actor, ms: number, signal?: AbortSignal): Promise<void> {
    if (actor.isDead) return never();
    return new Promise((resolve) => {
      if (signal?.aborted === true) return resolve();
      const end = (): void => {
        forget();
        resolve();
      };
      this.timersSoFar += 1;
      const at = this.time + Math.max(0, Math.ceil(ms));
      const forget = (): void => signal?.removeEventListener("abort", abort);
      const timer: Timer = { actor, label: TIMER, at, number: this.timersSoFar, resume: end, forget };
      const abort = (): void => {
        this.timers = this.timers.filter((other) => other !== timer);
        this.ready = this.ready.filter((other) => other !== timer);
        end();
      };
      signal?.addEventListener("abort", abort, { once: true });
      insert(this.timers, timer);
    });
  }

  /** Nothing that this actor waits for comes any more; of no actor, where none is given. */
  forget(actor: Actor | null = null): void {
    const isForgotten = (step: Step): boolean => actor === null || step.actor === actor;
    for (const step of [...this.ready, ...this.timers]) if (isForgotten(step)) step.forget?.();
    this.ready = this.ready.filter((step) => !isForgotten(step));
    this.timers = this.timers.filter((timer) => !isForgotten(timer));
  }

  /** Runs step after step until `isOver`. @returns false when it is not over by `until`, or nothing waits any more */
  async run(isOver: () => boolean, until: number, afterStep: () => void): Promise<boolean> {
    for (;;) {
      await this.settle();
      afterStep();
      if (isOver()) return true;
      const step = this.next(until);
      if (step === null || this.steps >= STEPS_MAX) return false;
      this.steps += 1;
      this.history.add(`${this.time} ${step.actor.name} ${step.label}`);
      step.resume();
    }
  }

  private next(until: number): Step | null {
    let able = this.able();
    while (able.length === 0) {
      const thaws = this.ready.map(({ actor }) => actor.frozenUntil ?? Infinity);
      const at = Math.min(this.timers[0]?.at ?? Infinity, ...thaws);
      if (at > until) return null;
      this.time = Math.max(this.time, at);
      let due = 0;
      while ((this.timers[due]?.at ?? Infinity) <= this.time) due += 1;
      this.ready.push(...this.timers.splice(0, due));
      able = this.able();
    }
    const chosen = able[Math.floor(this.random.fraction() * able.length)] as Step;
    this.ready.splice(this.ready.indexOf(chosen), 1);
    return chosen;
  }

  private able(): readonly Step[] {
    const { ready, time } = this;
    const waits = ({ actor, isTurn = false }: Step): boolean =>
      (actor.frozenUntil ?? 0) > time || (isTurn && ready.some((other) => other.actor === actor && isTimer(other)));
    return ready.some(waits) ? ready.filter((step) => !waits(step)) : ready;
  }

  /** What the last step began goes on until all of it waits; a whole turn is for what is at work in other turns. */
  private async settle(): Promise<void> {
    await (this.ready.length > 0 ? afterMicrotasks() : nextTurn());
    for (let turns = 0; this.isBusy(); turns++) {
      if (turns > TURNS_MAX) throw new Error("A transaction waits for something outside of it.");
      await nextTurn();
    }
  }
}

function isTimer({ label }: Step): boolean {
  return label === TIMER;
}

function afterMicrotasks(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Keeps the order of time, and of creation within one moment. */
function insert(timers: Timer[], timer: Timer): void {
  let [low, high] = [0, timers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const other = timers[middle] as Timer;
    if (other.at <= timer.at) low = middle + 1;
    else high = middle;
  }
  timers.splice(low, 0, timer);
}
