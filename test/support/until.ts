import { setImmediate as nextTurn } from "node:timers/promises";

/** The limit in real time of every wait of a test. */
const TIMEOUT_MS = 8_000;

/** Turns the event loop until `condition` holds. */
export async function until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  const giveUpAt = Date.now() + TIMEOUT_MS;
  // Pending callbacks get their first turn before the first check.
  await nextTurn();
  while (!(await condition())) {
    if (Date.now() > giveUpAt) throw new Error(`Waited in vain until ${what}.`);
    await nextTurn();
  }
}
