import { setTimeout as pause } from "node:timers/promises";
import { NodeDigest } from "../../adapters/crypto/digest.js";
import { AesSecretBox } from "../../adapters/crypto/secret-box.js";
import { SystemClock } from "../../adapters/system/clock.js";
import { SystemRandom } from "../../adapters/system/random.js";
import type { WebhookMessage, WebhookResult, WebhookSender } from "../../core/ports/webhook-sender.js";
import { DeliverWebhooks } from "../../core/webhooks/deliver-webhooks.js";
import { ManageEndpoints } from "../../core/webhooks/manage-endpoints.js";
import { RecordDeliveryAttempt } from "../../core/webhooks/record-delivery-attempt.js";
import { SendDelivery } from "../../core/webhooks/send-delivery.js";
import { newDelivery, newEvent } from "../../core/webhooks/write-events.js";
import { anId } from "../support/builders.js";
import { SILENT, sqliteStorage } from "../support/databases.js";
import type { StorageUnderTest } from "../support/storage-under-test.js";
import { StubGuard } from "../support/doubles/stub-guard.js";
import { atLeast, type Bench, median, perSecond } from "./figures.js";
import { EVERY_KEY, FixedKeyring } from "../support/doubles/fixed-keyring.js";

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
  const [clock, random, sender] = [new SystemClock(), new SystemRandom(), new SlowReceivers()];
  const secretBox = new AesSecretBox(new FixedKeyring());
  await fill(storage, secretBox, hangingOnes);
  const { unitOfWork, webhooks } = storage;
  const breaker = { openMs: 30_000, openMaxMs: 600_000 };
  const recordAttempt = new RecordDeliveryAttempt({
    unitOfWork,
    webhooks,
    clock,
    random,
    logger: SILENT,
    metrics: null,
    scheduleMs: [5_000],
    breaker,
  });
  const sendDelivery = new SendDelivery({ sender, secretBox, clock, metrics: null, tracer: null });
  const work = new DeliverWebhooks({
    owner: anId("prc"),
    webhooks,
    unitOfWork,
    sendDelivery,
    recordAttempt,
    clock,
    logger: SILENT,
    timeoutMs: TIMEOUT_MS,
    sweepMs: 1_000,
    breaker,
  });
  const begunAt = performance.now();
  work.start();
  while (sender.delivered < EVENTS * HEALTHY) await pause(5);
  const seconds = (performance.now() - begunAt) / 1000;
  await work.stop(0);
  await storage.close();
  return (EVENTS * HEALTHY) / seconds;
}

async function fill(storage: StorageUnderTest, secretBox: AesSecretBox, hangingOnes: number): Promise<void> {
  const { unitOfWork, webhooks } = storage;
  const ids = { next: anId };
  const parts = {
    unitOfWork,
    webhooks,
    guard: new StubGuard(),
    secretBox,
    sealKeys: EVERY_KEY,
    clock: new SystemClock(),
    ids,
    random: new SystemRandom(),
    digest: new NodeDigest(),
    logger: SILENT,
    allowHttp: false,
  };
  const endpoints = new ManageEndpoints(parts);
  const { id: accountId } = await storage.addAccount();
  const names = [
    ...Array.from({ length: hangingOnes }, (_, index) => `hangs-${index}`),
    ...Array.from({ length: HEALTHY }, (_, index) => `well-${index}`),
  ];
  for (const name of names) {
    const { endpoint } = await endpoints.create(accountId, `https://${name}.example.com/`);
    const events = Array.from({ length: EVENTS }, () =>
      newEvent(
        ids,
        { accountId, jobId: null, number: null, trace: null, type: "generation.completed", data: {} },
        Date.now(),
      ),
    );
    await storage.inTransaction(async (tx) => {
      await webhooks.insertEvents(tx, events);
      await webhooks.insertDeliveries(
        tx,
        events.map((event) => newDelivery(ids, event, endpoint.id)),
      );
    });
  }
}
