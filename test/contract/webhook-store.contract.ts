import type { StorageWith } from "../support/storage-under-test.js";
import { webhookClaims } from "./webhook-store/claims.js";
import { webhookDeliveries } from "./webhook-store/deliveries.js";
import { webhookEndpoints } from "./webhook-store/endpoints.js";
import { webhookEvents } from "./webhook-store/events.js";
import { webhookRetention } from "./webhook-store/retention.js";
import { webhookTries } from "./webhook-store/attempts.js";

type Storage = StorageWith<"addAccount" | "webhooks">;

/**
 * The promises of every `WebhookStore`, by topic, all on one database.
 *
 * @param open opens a storage without rows, once for the suite; {@link storageUnderTest} creates it
 */
export function webhookStoreContract(name: string, open: () => Promise<Storage>): void {
  describe(`WebhookStore contract: ${name}`, () => {
    let storage: Storage;
    before(async () => {
      storage = await open();
    });
    after(() => storage.close());

    const opened = (): Storage => storage;
    describe("endpoints", () => webhookEndpoints(opened));
    describe("deliveries", () => webhookDeliveries(opened));
    describe("events", () => webhookEvents(opened));
    describe("claims", () => webhookClaims(opened));
    describe("attempts", () => webhookTries(opened));
    describe("retention", () => webhookRetention(opened));
  });
}
