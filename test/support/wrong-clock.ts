import type { Environment } from "./process.js";

/**
 * Under these variables a process and all its threads see a system clock that is off by so many milliseconds. The
 * monotonic clock and the storage's clock are right.
 */
export function wallClockOffBy(ms: number): Environment {
  const code = `
    const Right = Date;
    globalThis.Date = class Date extends Right {
      constructor(...values) {
        if (values.length === 0) super(Right.now() + ${ms});
        else super(...values);
      }
      static now() {
        return Right.now() + ${ms};
      }
    };`;
  return { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(code)}` };
}
