import type { Environment } from "./process.js";

/** How often a process reads by how much its clock is off now. */
const READ_MS = 100;

/**
 * Under these variables a process and all its threads see a system clock that is off by so many milliseconds. The
 * monotonic clock and the storage's clock are right.
 */
export function wallClockOffBy(ms: number): Environment {
  return preloaded(`const offMs = () => ${ms};`);
}

/** The same, off by the number that this file contains now; 0 while there is none. The clock jumps when it changes. */
export function wallClockOffAsIn(file: string): Environment {
  return preloaded(`
    import { readFileSync } from "node:fs";
    let ms = 0;
    const read = () => {
      try {
        ms = Number(readFileSync(${JSON.stringify(file)}, "utf8"));
      } catch {
        ms = 0;
      }
    };
    read();
    setInterval(read, ${READ_MS}).unref();
    const offMs = () => ms;`);
}

function preloaded(offMs: string): Environment {
  const code = `
    ${offMs}
    const Right = Date;
    globalThis.Date = class Date extends Right {
      constructor(...values) {
        if (values.length === 0) super(Right.now() + offMs());
        else super(...values);
      }
      static now() {
        return Right.now() + offMs();
      }
    };`;
  return { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(code)}` };
}
