import type { StorageUnderTest } from "../support/databases.js";
import { webhookClaims } from "./webhook-store/claims.js";
import { webhookDeliveries } from "./webhook-store/deliveries.js";
import { webhookEndpoints } from "./webhook-store/endpoints.js";
import { webhookRetention } from "./webhook-store/retention.js";
import { webhookTries } from "./webhook-store/attempts.js";

/** By topic; all on one database. */
export function webhookStoreContract(name: string, open: () => Promise<StorageUnderTest>): void {
  describe(`WebhookStore contract: ${name}`, () => {
    let storage: StorageUnderTest;
    before(async () => {
      storage = await open();
    });
    after(() => storage.close());

    const opened = (): StorageUnderTest => storage;
    describe("endpoints", () => webhookEndpoints(opened));
    describe("deliveries", () => webhookDeliveries(opened));
    describe("claims", () => webhookClaims(opened));
    describe("attempts", () => webhookTries(opened));
    describe("retention", () => webhookRetention(opened));
  });
}
