import { ProviderFailure } from "../../../plugins/sdk/index.js";
import type { Injector } from "./injector.js";
import type { Fault } from "./plan.js";
import { type Actor, never, type Scheduler } from "./scheduler.js";

type Stall = Extract<Fault, { kind: "stall" }>;

/** How often the reply to a call takes a step of its own, in which others act and the process may die. */
const LATE_REPLIES = 0.25;
const NOT_BILLED = { billable: "no" } as const;

/**
 * One process of Fermata, from its start to its death. All that it does outside of itself goes through {@link call}, so
 * that nothing of it goes on once it is dead.
 */
export class SimProcess implements Actor {
  isDead = false;
  frozenUntil = 0;
  private stalledUntil = 0;
  /** Resolves at its death. */
  readonly died: Promise<void>;
  private onDeath: () => void = () => undefined;

  constructor(
    readonly name: string,
    /** The machine that it runs on. */
    readonly machine: number,
    private readonly deps: {
      readonly scheduler: Scheduler;
      readonly injector: Injector<SimProcess>;
      fraction(): number;
    },
  ) {
    this.died = new Promise((resolve) => (this.onDeath = resolve));
  }

  get scheduler(): Scheduler {
    return this.deps.scheduler;
  }

  /** A wait in which others act. */
  step(label: string): Promise<void> {
    return this.scheduler.step(this, label);
  }

  /**
   * An effect outside of the process, which may die or stand still before it and between it and its reply.
   *
   * @param before called right before the effect
   */
  async call<T>(
    label: string,
    effect: (stall: Stall | null) => T | Promise<T>,
    before?: () => Promise<void>,
  ): Promise<T> {
    const { injector } = this.deps;
    await this.step(label);
    const number = injector.called();
    if (injector.diesAt(this, number, "before")) return never<T>();
    const stall = injector.stalling(label);
    if (stall?.when === "before") await this.standStill(stall.ms);
    await before?.();
    const result = await effect(stall);
    if (injector.diesAt(this, number, "after")) return never<T>();
    if (stall?.when === "after") await this.standStill(stall.ms);
    else if (this.deps.fraction() < LATE_REPLIES) await this.step(`${label}: reply`);
    return result;
  }

  /** A request over the host's `fetch`: it is not sent once the process knows, after a turn, that it is over. */
  send<T>(label: string, signal: AbortSignal, effect: () => T | Promise<T>): Promise<T> {
    return this.call(label, effect, async () => {
      await this.scheduler.turn(this, `${label}: turn`);
      if (signal.aborted) throw new ProviderFailure("unavailable", "It was not sent: the call is over.", NOT_BILLED);
    });
  }

  private standStill(ms: number): Promise<void> {
    this.stalledUntil = this.frozenUntil = Math.max(this.frozenUntil, this.scheduler.now() + ms);
    return this.step("goes on");
  }

  /** It works again, unless it stands still at a call for longer. */
  thaw(): void {
    this.frozenUntil = this.stalledUntil;
  }

  die(): void {
    this.isDead = true;
    this.scheduler.forget(this);
    this.onDeath();
  }

  /** A port whose every asynchronous method is a {@link call}. */
  outside<Port extends object>(name: string, port: Port, methods: readonly (keyof Port & string)[]): Port {
    return new Proxy(port, {
      get: (target, key) => {
        const member: unknown = Reflect.get(target, key);
        if (typeof member !== "function") return member;
        const run = (...given: unknown[]): unknown => (member as (...all: unknown[]) => unknown).apply(target, given);
        if (!(methods as readonly PropertyKey[]).includes(key)) return run;
        return (...given: unknown[]) => this.call(`${name}.${String(key)}`, () => run(...given));
      },
    });
  }
}
