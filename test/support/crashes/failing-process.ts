import { readFile } from "node:fs/promises";
import { eventually, type FermataProcess } from "../process.js";
import { ARM, ARMED, type CrashPlan, REACHED, RESUMED } from "./boundary.js";
import type { Servers } from "./servers.js";

/** What became of a process. */
export interface Outcome {
  readonly reached: readonly CrashPlan[];
  readonly violations: readonly string[];
  readonly counts: readonly Readonly<Record<string, number>>[];
  readonly log: string;
}

/** The clients of the installation. */
export interface Rounds {
  /** A client of a new account sends all its requests, to this server first. */
  begin(preferred: string): { readonly ended: Promise<void>; responses(): number };
}

export interface LifeEvents {
  onFault(): void;
  /** It has nothing left to fail at. */
  beforeStop(): Promise<void>;
}

/** Bounds for a busy machine. */
const START_MAX_MS = 120_000;
const LIFE_MAX_MS = 900_000;
/** A point that this many rounds of requests do not come to is given up. */
const ROUNDS_MAX = 5;
/** A process is stopped in the middle of its work. */
const RESPONSES_BEFORE_STOP = 10;

/** A point that a process comes to as it stops. */
export function isOfStop(point: string): boolean {
  return /\.close:/.test(point);
}

/** A process that fails at its points, seen from outside. */
export class FailingProcess {
  private readonly reached: CrashPlan[] = [];
  private readonly violations: string[] = [];
  private readonly listening: Promise<string | null>;
  private readonly rounds: Promise<void>[] = [];
  private url: string | null = null;
  private isStopping = false;

  constructor(
    private readonly child: FermataProcess,
    private readonly servers: Servers,
    private readonly clients: Rounds,
  ) {
    this.listening = child.listening(START_MAX_MS).then(
      (url) => {
        this.url = url;
        this.servers.use(url);
        return url;
      },
      () => null,
    );
  }

  async run(life: readonly CrashPlan[], events: LifeEvents): Promise<Outcome> {
    try {
      if (await this.fail(life, events)) await this.end(life, events);
    } catch (error) {
      this.violations.push(error instanceof Error ? error.message : String(error));
    } finally {
      await this.child.kill();
      await this.listening;
      this.leave();
    }
    const { stdout, stderr: log } = this.child;
    const counts = [...stdout.matchAll(/^points (.+)$/gm)].map(
      ([, json]) => JSON.parse(json ?? "") as Outcome["counts"][0],
    );
    return { reached: this.reached, violations: this.violations, counts, log };
  }

  /** @returns whether it lives after the last of its faults */
  private async fail(life: readonly CrashPlan[], { onFault }: LifeEvents): Promise<boolean> {
    for (const [index, plan] of life.entries()) {
      if (index > 0 && !(await this.arm(index))) return this.child.hasExited;
      if (!(await this.comesTo(plan, index))) {
        if (this.child.hasExited || this.isStopping || this.url === null) return this.child.hasExited;
        continue;
      }
      this.reached.push(plan);
      onFault();
      if (plan.fault !== "drop") this.leave();
      if (plan.fault === "kill") return false;
      await this.says(RESUMED, index);
      if (plan.fault === "drop") continue;
      if (this.url !== null && !this.isStopping) this.servers.use(this.url);
      // What it does when it is awake is not cut short by its next fault.
      await Promise.all(this.rounds.splice(0));
    }
    return true;
  }

  private async comesTo(plan: CrashPlan, index: number): Promise<boolean> {
    let isOver = false;
    const reached = this.says(REACHED, index).then(
      () => true,
      () => false,
    );
    void reached.finally(() => (isOver = true));
    const url = await Promise.race([this.listening, reached]);
    if (typeof url === "boolean") return url;
    if (url === null) return isOver && reached;
    for (let count = 0; count < ROUNDS_MAX && !isOver; count++) {
      const { ended, responses } = this.clients.begin(url);
      this.rounds.push(ended);
      if (isOfStop(plan.point)) {
        await eventually("requests", () => responses() >= RESPONSES_BEFORE_STOP || this.child.hasExited);
        this.isStopping = true;
        this.child.signal("SIGTERM");
        return reached;
      }
      await Promise.race([ended, reached]);
    }
    return isOver && reached;
  }

  /** A process that lives is asked to stop once it is awake. */
  private async end(life: readonly CrashPlan[], { beforeStop }: LifeEvents): Promise<void> {
    const { child } = this;
    if (life.length === 0) await this.countTwice();
    if (!this.isStopping) await Promise.all(this.rounds);
    if (!child.hasExited && !this.isStopping) await beforeStop();
    await eventually("the process is awake", async () => child.hasExited || !(await isStopped(child.pid)));
    if (!child.hasExited && !this.isStopping) child.signal("SIGTERM");
    this.leave();
    const { code, signal } = await child.exited;
    // A start that was held up for so long may find no connection in time: then it ends, to be started again.
    const mayEnd = signal === "SIGKILL" || !child.stdout.includes("listening");
    if (!mayEnd && code !== 0) this.violations.push(`the process ended with ${code}: ${child.stderr.slice(-2_000)}`);
  }

  /** Two rounds: what it comes to but once is seen. */
  private async countTwice(): Promise<void> {
    const url = await this.listening;
    if (url === null) return;
    await this.clients.begin(url).ended;
    await this.arm(1);
    await this.clients.begin(url).ended;
  }

  /** @returns false: it has ended, or come to a point that was given up */
  private arm(index: number): Promise<boolean> {
    this.child.signal(ARM);
    return this.says(ARMED, index).then(
      () => true,
      () => false,
    );
  }

  private async says(line: string, index: number): Promise<void> {
    await this.child.line(new RegExp(`^${line} ${index}$`, "m"), LIFE_MAX_MS);
  }

  private leave(): void {
    if (this.url !== null) this.servers.leave(this.url);
  }
}

async function isStopped(pid: number | undefined): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return /\) T /.test(stat);
}
