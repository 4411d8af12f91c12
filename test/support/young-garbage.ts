import v8 from "node:v8";
import vm from "node:vm";

v8.setFlagsFromString("--expose-gc");
const collect = vm.runInNewContext("gc") as (options?: { readonly type: "minor" }) => void;

const AT_ONCE = 64;
const ITEMS = 40_000;
/** Each item is alone as large as a small request. */
const NUMBERS_OF_ITEM = 128;

/**
 * Has items come and go while 64 others are there, as requests do, and collects no garbage but what is young.
 *
 * @param enter takes note of an item that refers to `load`. @returns ends that
 * @returns the megabytes that stayed in memory, where all items had 40
 */
export function megabytesKeptOf(enter: (number: number, load: object) => () => void): number {
  const leaving: (() => void)[] = [];
  let number = 0;
  const next = (): void => {
    leaving.push(
      enter(
        number,
        Array.from({ length: NUMBERS_OF_ITEM }, () => number),
      ),
    );
    number += 1;
  };
  while (leaving.length < AT_ONCE) next();
  for (let collections = 0; collections < 3; collections++) collect({ type: "minor" });
  collect();
  const before = process.memoryUsage().heapUsed;
  while (number < ITEMS) {
    next();
    leaving.shift()?.();
    if (number % 500 === 0) collect({ type: "minor" });
  }
  collect({ type: "minor" });
  const kept = process.memoryUsage().heapUsed - before;
  for (const leave of leaving) leave();
  return kept / 1_000_000;
}
