import { readdir, readFile, readlink } from "node:fs/promises";
import { type Environment, eventually, type FermataProcess } from "../process.js";

/** What one process holds. */
export interface ProcessFigures {
  readonly rssMb: number;
  /** After a garbage collection; and what is held outside of the heap. */
  readonly heapMb: number;
  readonly externalMb: number;
  readonly timers: number;
  readonly descriptors: number;
  readonly sockets: number;
  readonly threads: number;
}

interface Inside {
  readonly number: number;
  readonly heapUsed: number;
  readonly external: number;
  readonly timers: number;
}

const MB = 1024 * 1024;

/** Under these variables a process writes what it holds to this file when it gets SIGUSR2. */
export function probed(file: string): Environment {
  const code = `
    import { renameSync, writeFileSync } from "node:fs";
    import { setFlagsFromString } from "node:v8";
    import { runInNewContext } from "node:vm";
    import { isMainThread } from "node:worker_threads";
    if (isMainThread) {
      setFlagsFromString("--expose-gc");
      const collect = runInNewContext("gc");
      const file = ${JSON.stringify(file)};
      let number = 0;
      process.on("SIGUSR2", () => {
        collect();
        collect();
        const { heapUsed, external } = process.memoryUsage();
        const timers = process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
        number += 1;
        writeFileSync(file + ".new", JSON.stringify({ number, heapUsed, external, timers }));
        renameSync(file + ".new", file);
      });
    }`;
  return { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(code)}` };
}

/** Samples a process that was started as {@link probed}. */
export class Probe {
  private number = 0;

  constructor(
    private readonly process: FermataProcess,
    private readonly file: string,
  ) {}

  async sample(): Promise<ProcessFigures> {
    this.number += 1;
    this.process.signal("SIGUSR2");
    const inside = await eventually("the figures of a process", () => this.read());
    const folder = `/proc/${this.process.pid}`;
    const status = await readFile(`${folder}/status`, "utf8");
    const names = await readdir(`${folder}/fd`);
    // One that is closed in the meantime has no target any more.
    const targets = await Promise.all(names.map((name) => readlink(`${folder}/fd/${name}`).catch(() => "")));
    return {
      rssMb: Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1024,
      heapMb: inside.heapUsed / MB,
      externalMb: inside.external / MB,
      timers: inside.timers,
      descriptors: names.length,
      sockets: targets.filter((target) => target.startsWith("socket:")).length,
      threads: Number(/^Threads:\s+(\d+)/m.exec(status)?.[1]),
    };
  }

  private async read(): Promise<Inside | null> {
    const text = await readFile(this.file, "utf8").catch(() => null);
    const inside = text === null ? null : (JSON.parse(text) as Inside);
    return inside?.number === this.number ? inside : null;
  }
}
