import type { Injector } from "./injector.js";
import { type Actor, never, type Scheduler } from "./scheduler.js";

/** How often the reply to a call takes a step of its own, in which others act and the process may die. */
const LATE_REPLIES = 0.25;

/**
 * One process of Fermata, from its start to its death. All that it does outside of itself goes through {@link call}, so
 * that nothing of it goes on once it is dead.
 */
export class SimProcess implements Actor {
  isDead = false;
  frozenUntil = 0;
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

  /** An effect outside of the process, which may die before it and between it and its reply. */
  async call<T>(label: string, effect: () => T | Promise<T>): Promise<T> {
    await this.step(label);
    const number = this.deps.injector.called();
    if (this.deps.injector.diesAt(this, number, "before")) return never<T>();
    const result = await effect();
    if (this.deps.injector.diesAt(this, number, "after")) return never<T>();
    if (this.deps.fraction() < LATE_REPLIES) await this.step(`${label}: reply`);
    return result;
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
