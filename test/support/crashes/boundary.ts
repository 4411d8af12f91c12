import { subscribe } from "node:diagnostics_channel";
import { spawn } from "node:child_process";
import { writeSync } from "node:fs";
import type { Socket } from "node:net";

/** What happens to the process at its point. */
export const FAULTS = ["kill", "drop", "stall"] as const;
export type Fault = (typeof FAULTS)[number];

/** One fault of one process: at the `occurrence`th time, from 1 on, that it comes to `point` after it was armed. */
export interface CrashPlan {
  readonly point: string;
  readonly occurrence: number;
  readonly fault: Fault;
}

/** Longer than a lease, and than another process needs to take its work. */
const STALL_SECONDS = 2.5;

/** The lines on stdout, each with the number of the plan, that say what became of it. */
export const REACHED = "reached its point";
export const RESUMED = "goes on after its point";
export const ARMED = "is armed for its point";
/**
 * On this signal a process is armed for its next point, and says how often it came to each so far. A point that it did
 * not come to is given up.
 */
export const ARM: NodeJS.Signals = "SIGUSR2";

/**
 * The boundaries of the ports of one process: before and after each call. Every fault happens within the boundary, so
 * that nothing of the process comes between. The process is armed for its first point from its start on, for each
 * further one by a signal.
 */
export class Boundary {
  /** How often each point was reached. */
  readonly counts: Record<string, number> = {};
  private readonly sockets = new Set<Socket>();
  private next = 0;
  private isArmed = true;
  /** How often it came to the point that it is armed for. */
  private times = 0;

  constructor(
    private readonly plans: readonly CrashPlan[],
    /** Of the database server. */
    private readonly databasePort: number | null,
  ) {
    process.on(ARM, () => this.arm());
    subscribe("net.client.socket", (message) => this.watch((message as { readonly socket: Socket }).socket));
  }

  /** A port whose every call is a pair of points: `NAME.METHOD:before` and `NAME.METHOD:after`. */
  around<Port extends object>(name: string, port: Port): Port {
    return new Proxy(port, {
      get: (target, key) => {
        const member: unknown = Reflect.get(target, key);
        if (typeof member !== "function" || typeof key !== "string") return member;
        return (...given: unknown[]): unknown => {
          const changed = given.map((one) => (key === "inTransaction" ? this.aroundWork(name, one) : one));
          return this.call(`${name}.${key}`, () => (member as (...all: unknown[]) => unknown).apply(target, changed));
        };
      },
    });
  }

  /** The work of a transaction: its end is the last moment before the commit. */
  private aroundWork(name: string, work: unknown): unknown {
    return (...given: unknown[]): unknown =>
      this.call(`${name}.work`, () => (work as (...all: unknown[]) => unknown)(...given));
  }

  private call(name: string, run: () => unknown): unknown {
    this.at(`${name}:before`);
    const result = run();
    if (!(result instanceof Promise)) {
      this.at(`${name}:after`);
      return result;
    }
    return result.finally(() => this.at(`${name}:after`));
  }

  private arm(): void {
    if (this.isArmed) this.next += 1;
    this.isArmed = true;
    this.times = 0;
    say(`${ARMED} ${this.next}`);
    this.sayCounts();
  }

  sayCounts(): void {
    say(`points ${JSON.stringify(this.counts)}`);
  }

  private at(point: string): void {
    this.counts[point] = (this.counts[point] ?? 0) + 1;
    const plan = this.plans[this.next];
    if (!this.isArmed || plan?.point !== point) return;
    this.times += 1;
    if (this.times !== plan.occurrence) return;
    this.isArmed = false;
    this.next += 1;
    say(`${REACHED} ${this.next - 1}`);
    if (plan.fault === "drop") for (const socket of this.sockets) socket.resetAndDestroy();
    else this.stop(plan.fault);
    say(`${RESUMED} ${this.next - 1}`);
  }

  /** A signal to oneself is delivered before the next step, and stops the threads that renew leases as well. */
  private stop(fault: "kill" | "stall"): void {
    if (fault === "stall") {
      const resume = `sleep ${STALL_SECONDS}; kill -CONT ${process.pid}`;
      spawn("/bin/sh", ["-c", resume], { stdio: "ignore", detached: true }).unref();
    }
    process.kill(process.pid, fault === "kill" ? "SIGKILL" : "SIGSTOP");
  }

  private watch(socket: Socket): void {
    if (this.databasePort === null) return;
    socket.once("connect", () => {
      if (socket.remotePort !== this.databasePort) return;
      this.sockets.add(socket);
      socket.once("close", () => this.sockets.delete(socket));
    });
  }
}

function say(line: string): void {
  writeSync(1, `${line}\n`);
}
