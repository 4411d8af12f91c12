import { setMaxListeners } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import type { WebhookMessage, WebhookResult, WebhookSender } from "../../core/ports/webhook-sender.js";
import { sqliteStorage } from "../support/databases.js";
import { addBacklog, deliveriesOf } from "./deliveries.js";
import { atLeast, type Bench, median, perSecond } from "./figures.js";

const EVENTS = 300;
const HEALTHY = 10;
const HANGING = 10;
const RESPONSE_MS = 10;
const TIMEOUT_MS = 15_000;
const ROUNDS = 3;
const RATIO_MIN = 0.9;

const PHASES = { dnsMs: null, connectMs: null, tlsMs: null, firstByteMs: RESPONSE_MS, totalMs: RESPONSE_MS };

/** Receivers that respond after a while, or hang until the sender times out. */
class SlowReceivers implements WebhookSender {
  delivered = 0;

  async send({ url }: WebhookMessage, signal: AbortSignal): Promise<WebhookResult> {
    const hangs = url.includes("hangs");
    // All that is sent at once hears of the same stop.
    setMaxListeners(0, signal);
    await pause(hangs ? TIMEOUT_MS : RESPONSE_MS, undefined, { signal }).catch(() => undefined);
    if (!hangs) this.delivered++;
    const failure = hangs ? "timeout" : null;
    return { failure, status: hangs ? null : 200, retryAfterMs: null, message: null, excerpt: "", phases: PHASES };
  }

  async close(): Promise<void> {}
}

export const hanging: Bench = {
  name: "hanging",
  compares: `${HEALTHY} webhook endpoints that respond, alongside ${HANGING} that hang, with themselves alone`,
  async run() {
    const ratios: number[] = [];
    let [alone, alongside] = [0, 0];
    for (let round = 0; round < ROUNDS; round++) {
      alone = await rateOfHealthy(0);
      alongside = await rateOfHealthy(HANGING);
      ratios.push(alongside / alone);
    }
    const ratio = median(ratios);
    return [
      {
        name: "hanging: deliveries to the healthy ones",
        value: perSecond(alongside),
        baseline: perSecond(alone),
        ratio,
        target: atLeast(ratio, RATIO_MIN, " ×"),
      },
    ];
  },
};

/** Deliveries a second to responsive endpoints, each with a backlog of events. */
async function rateOfHealthy(hangingOnes: number): Promise<number> {
  const storage = await sqliteStorage.open();
  const sender = new SlowReceivers();
  const names = [
    ...Array.from({ length: hangingOnes }, (_, index) => `hangs-${index}`),
    ...Array.from({ length: HEALTHY }, (_, index) => `well-${index}`),
  ];
  await addBacklog(
    storage,
    names.map((name) => `https://${name}.example.com/`),
    () => Array.from({ length: EVENTS }, () => ({})),
  );
  const work = deliveriesOf(storage, sender, TIMEOUT_MS);
  const begunAt = performance.now();
  work.start();
  while (sender.delivered < EVENTS * HEALTHY) await pause(5);
  const seconds = (performance.now() - begunAt) / 1000;
  await work.stop(0);
  await storage.close();
  return (EVENTS * HEALTHY) / seconds;
}
