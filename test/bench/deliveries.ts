/** The sender of webhooks on a storage of its own, and a backlog for it. */
import { NodeDigest } from "../../adapters/crypto/digest.js";
import { AesSecretBox } from "../../adapters/crypto/secret-box.js";
import { SystemClock } from "../../adapters/system/clock.js";
import { SystemRandom } from "../../adapters/system/random.js";
import type { WebhookSender } from "../../core/ports/webhook-sender.js";
import { DeliverWebhooks } from "../../core/webhooks/deliver-webhooks.js";
import { ManageEndpoints } from "../../core/webhooks/manage-endpoints.js";
import { RecordDeliveryAttempt } from "../../core/webhooks/record-delivery-attempt.js";
import { SendDelivery } from "../../core/webhooks/send-delivery.js";
import { newDelivery, newEvent } from "../../core/webhooks/write-events.js";
import { anId } from "../support/builders.js";
import { SILENT } from "../support/databases.js";
import { EVERY_KEY, FixedKeyring } from "../support/doubles/fixed-keyring.js";
import { StubGuard } from "../support/doubles/stub-guard.js";
import type { StorageUnderTest } from "../support/storage-under-test.js";

const secretBox = new AesSecretBox(new FixedKeyring());
const [clock, random] = [new SystemClock(), new SystemRandom()];

const UNCOUNTED = { countDeliveryAttempt: ignore, countEndpointWarning: ignore, countEndpointDisabled: ignore };

/**
 * @param timeoutMs of an attempt
 * @param onEnded called for each delivery once its end is recorded
 */
export function deliveriesOf(
  storage: StorageUnderTest,
  sender: WebhookSender,
  timeoutMs: number,
  onEnded: () => void = ignore,
): DeliverWebhooks {
  const { unitOfWork, webhooks } = storage;
  const breaker = { openMs: 30_000, openMaxMs: 600_000 };
  const metrics = { ...UNCOUNTED, countDeliveryEnded: onEnded };
  const parts = { unitOfWork, webhooks, clock, random, logger: SILENT, metrics, breaker };
  return new DeliverWebhooks({
    ...parts,
    owner: anId("prc"),
    sendDelivery: new SendDelivery({ sender, secretBox, clock, metrics: null, tracer: null }),
    recordAttempt: new RecordDeliveryAttempt({ ...parts, scheduleMs: [5_000] }),
    timeoutMs,
    sweepMs: 1_000,
  });
}

/** Adds endpoints of one account, and an event that is due for each of its data. */
export async function addBacklog(
  storage: StorageUnderTest,
  urls: readonly string[],
  dataOf: (url: string) => readonly object[],
): Promise<void> {
  const { unitOfWork, webhooks } = storage;
  const ids = { next: anId };
  const parts = { unitOfWork, webhooks, clock, ids, random, secretBox, digest: new NodeDigest(), logger: SILENT };
  const endpoints = new ManageEndpoints({ ...parts, guard: new StubGuard(), sealKeys: EVERY_KEY, allowHttp: false });
  const { id: accountId } = await storage.addAccount();
  const about = { accountId, jobId: null, number: null, trace: null, type: "generation.completed" } as const;
  for (const url of urls) {
    const { endpoint } = await endpoints.create(accountId, url);
    const events = dataOf(url).map((data) => newEvent(ids, { ...about, data }, Date.now()));
    await storage.inTransaction(async (tx) => {
      await webhooks.insertEvents(tx, events);
      await webhooks.insertDeliveries(
        tx,
        events.map((event) => newDelivery(ids, event, endpoint.id)),
      );
    });
  }
}

function ignore(): void {
  return undefined;
}
