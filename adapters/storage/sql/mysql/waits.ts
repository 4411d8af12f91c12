import { type Member, Members } from "../../../../core/members.js";

/** How often the waits are checked: one timer serves all, where each statement would need two of its own. */
const TICK_MS = 50;

/** A statement without a response: the server is slow, or it hangs. */
export interface LateResponses {
  /** When the first check is due; each further one after twice as long. */
  readonly lateMs: number;
  /** Whether the server still responds, so that waiting makes sense. */
  isServerThere(): Promise<boolean>;
}

interface Wait extends Member {
  readonly endsAt: number;
  readonly late: LateResponses | undefined;
  checkAt: number;
  checkMs: number;
  giveUp(): void;
}

const waits = new Members<Wait>();
let ticker: NodeJS.Timeout | null = null;

/**
 * Calls `giveUp` after `limitMs`, or as soon as the wait is late and the server does not respond.
 *
 * @returns ends the wait; after that `giveUp` is not called any more
 */
export function afterWaiting(limitMs: number, giveUp: () => void, late?: LateResponses): () => void {
  const now = performance.now();
  const checkMs = late?.lateMs ?? Infinity;
  const wait: Wait = { endsAt: now + limitMs, late, checkAt: now + checkMs, checkMs, place: -1, giveUp };
  waits.add(wait);
  ticker ??= setInterval(tick, TICK_MS).unref();
  return () => void waits.delete(wait);
}

function tick(): void {
  if (waits.size > 0) {
    // A process that was busy all that time may have an unread response: it is read first.
    setImmediate(checkAll);
  } else if (ticker !== null) {
    clearInterval(ticker);
    ticker = null;
  }
}

function checkAll(): void {
  const now = performance.now();
  for (const wait of [...waits]) {
    if (wait.place === -1) continue;
    if (now >= wait.endsAt) end(wait);
    else if (now >= wait.checkAt) check(wait);
  }
}

function check(wait: Wait): void {
  wait.checkAt = Infinity;
  void wait.late?.isServerThere().then((isThere) => {
    if (!isThere) return end(wait);
    wait.checkMs *= 2;
    wait.checkAt = performance.now() + wait.checkMs;
  });
}

function end(wait: Wait): void {
  if (waits.delete(wait)) wait.giveUp();
}
