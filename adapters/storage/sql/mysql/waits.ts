/** How often those who wait are looked after: one timer does for all, where each statement would need two of its own. */
const TICK_MS = 50;

/** A statement without an answer: the server is slow, or it hangs. */
export interface LateResponses {
  /** When the first look is due; each further one after twice as long. */
  readonly lateMs: number;
  /** Whether it is worth while to wait on. */
  isServerThere(): Promise<boolean>;
}

interface Wait {
  readonly endsAt: number;
  readonly late: LateResponses | undefined;
  looksAt: number;
  lookMs: number;
  giveUp(): void;
}

const waits = new Set<Wait>();
let ticker: NodeJS.Timeout | null = null;

/**
 * Gives something up after `limitMs`, or as soon as it is late and the server is not there.
 *
 * @returns ends the wait; after that nothing is given up any more
 */
export function afterWaiting(limitMs: number, giveUp: () => void, late?: LateResponses): () => void {
  const now = performance.now();
  const lookMs = late?.lateMs ?? Infinity;
  const wait: Wait = { endsAt: now + limitMs, late, looksAt: now + lookMs, lookMs, giveUp };
  waits.add(wait);
  ticker ??= setInterval(tick, TICK_MS).unref();
  return () => waits.delete(wait);
}

function tick(): void {
  if (waits.size > 0) {
    // A process that was busy all that time may have the answer lying there: it is read first.
    setImmediate(lookAfterAll);
  } else if (ticker !== null) {
    clearInterval(ticker);
    ticker = null;
  }
}

function lookAfterAll(): void {
  const now = performance.now();
  for (const wait of waits) {
    if (now >= wait.endsAt) end(wait);
    else if (now >= wait.looksAt) look(wait);
  }
}

function look(wait: Wait): void {
  wait.looksAt = Infinity;
  void wait.late?.isServerThere().then((isThere) => {
    if (!isThere) return end(wait);
    wait.lookMs *= 2;
    wait.looksAt = performance.now() + wait.lookMs;
  });
}

function end(wait: Wait): void {
  if (waits.delete(wait)) wait.giveUp();
}
