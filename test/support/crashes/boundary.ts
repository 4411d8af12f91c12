import { subscribe } from "node:diagnostics_channel";
import { spawn } from "node:child_process";
import { writeSync } from "node:fs";
import type { Socket } from "node:net";

/** What happens to the process at its point. */
export const FAULTS = ["kill", "drop", "stall"] as const;
export type Fault = (typeof FAULTS)[number];

/** One fault of one process: at the `occurrence`th time, from 1 on, that it comes to `point`. */
export interface CrashPlan {
  readonly point: string;
  readonly occurrence: number;
  readonly fault: Fault;
}

/** Longer than a lease, and than another process needs to take its work. */
const STALL_SECONDS = 2.5;

/** The line on stdout that says that the point was reached. */
export const REACHED = "reached its point";

/**
 * The boundaries of the ports of one process: before and after each call. Every fault happens within the boundary, so
 * that nothing of the process comes between.
 */
export class Boundary {
  /** How often each point was reached. */
  readonly counts: Record<string, number> = {};
  private readonly sockets = new Set<Socket>();

  constructor(
    private readonly plan: CrashPlan | null,
    /** Of the database server. */
    private readonly databasePort: number | null,
  ) {
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

  private at(point: string): void {
    const count = (this.counts[point] ?? 0) + 1;
    this.counts[point] = count;
    const { plan } = this;
    if (plan === null || plan.point !== point || plan.occurrence !== count) return;
    writeSync(1, `${REACHED}\n`);
    if (plan.fault === "drop") for (const socket of this.sockets) socket.resetAndDestroy();
    else this.stop(plan.fault);
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
