import { expect } from "chai";
import { firstIdAt, type WebhookDeliveryId } from "../../core/ids.js";
import { RETAINED_KINDS } from "../../core/ports/growth-store.js";
import { aJob, aLoggedRequest, anAttempt, anId, anIdempotencyRecord, NOON } from "../support/builders.js";
import type { StorageWith } from "../support/storage-under-test.js";
import { aDelivery, anEvent } from "../support/webhook-builders.js";

type Storage = StorageWith<"growth" | "jobs" | "callbacks" | "idempotency" | "requestLog" | "webhooks" | "addAccount">;

const DAY_MS = 86_400_000;

/**
 * The promises of every `GrowthStore`.
 *
 * @param open opens a storage without rows, once for the suite; {@link storageUnderTest} creates it
 */
export function growthStoreContract(name: string, open: () => Promise<Storage>): void {
  describe(`GrowthStore contract: ${name}`, () => {
    let storage: Storage;
    before(async () => {
      storage = await open();
    });
    after(() => storage.close());

    it("finds nothing due in a new storage", async () => {
      for (const kind of RETAINED_KINDS)
        expect(await storage.growth.due(kind, NOON + DAY_MS, 10), kind).to.deep.equal({ rows: 0, oldestAt: null });
    });

    it("counts what is due of each kind up to a limit, and names the moment of the oldest", async () => {
      const { growth, inTransaction } = storage;
      const times = [NOON + 2, NOON, NOON + 1];
      const end = { status: "failed", phase: "ended", dueAt: null } as const;
      const jobs = times.map((createdAt) =>
        aJob({ ...end, createdAt, completedAt: createdAt, requestId: anId("req"), requestedAt: createdAt }),
      );
      await inTransaction(async (tx) => {
        await storage.jobs.insertJobs(tx, jobs);
        await storage.jobs.insertAttempts(
          tx,
          jobs.map(({ id, createdAt }) => anAttempt({ jobId: id, state: "refused", endedAt: createdAt })),
        );
        await storage.webhooks.insertEvents(
          tx,
          times.map((createdAt) => anEvent({ createdAt })),
        );
        await storage.requestLog.insert(
          tx,
          times.map((createdAt) => aLoggedRequest({ createdAt })),
        );
        await storage.idempotency.insertRecords(
          tx,
          times.map((expiresAt) => anIdempotencyRecord({ expiresAt })),
        );
        for (const [index, receivedAt] of times.entries())
          await storage.callbacks.insert(tx, {
            ...{ id: anId("cbk"), jobId: anId("job"), providerId: "synth", attempt: null },
            ...{ digest: String(index).repeat(64), receivedAt, headers: {}, query: {}, body: new Uint8Array([1]) },
          });
      });
      // Of the hour and the day, for the client of each request and for all of them.
      const counts = await growth.due("request_counts", NOON + 3, 100);
      expect(counts.rows).to.be.above(2);
      expect(await growth.due("request_counts", NOON + 3, 2)).to.include({ rows: 2 });
      // Of the hour, of each account.
      const hour = NOON - (NOON % 3_600_000);
      expect(await growth.due("credit_sums", hour + 1, 100)).to.deep.equal({ rows: 3, oldestAt: hour });
      expect(await growth.due("credit_sums", hour, 100)).to.deep.equal({ rows: 0, oldestAt: null });
      for (const kind of RETAINED_KINDS.filter((one) => one !== "request_counts" && one !== "credit_sums")) {
        expect(await growth.due(kind, NOON + 2, 10), kind).to.deep.equal({ rows: 2, oldestAt: NOON });
        expect(await growth.due(kind, NOON + 3, 2), kind).to.deep.equal({ rows: 2, oldestAt: NOON });
        expect(await growth.due(kind, NOON, 10), kind).to.deep.equal({ rows: 0, oldestAt: null });
      }
    });

    it("knows the tables by name, and which rows are new: by a moment, or by their ids", async () => {
      const at = NOON + 100 * DAY_MS;
      const idAt = (time: number): WebhookDeliveryId => firstIdAt("dlv", time);
      await storage.inTransaction(async (tx) => {
        await storage.jobs.insertJobs(tx, [aJob({ createdAt: at - 1 }), aJob({ createdAt: at })]);
        await storage.webhooks.insertDeliveries(tx, [
          aDelivery({ id: idAt(at - 1) }),
          aDelivery({ id: idAt(at) }),
          aDelivery({ id: idAt(at + DAY_MS) }),
        ]);
      });
      const { tables, areRowsEstimated } = await storage.growth.tableSizes(at);
      const named = new Map(tables.map((table) => [table.name, table]));
      expect([...named.keys()]).to.deep.equal([...named.keys()].sort());
      expect([...named.keys()]).to.include.members(["jobs", "installation", "search_items", "webhook_tries"]);
      expect(named.get("jobs")?.newRows).to.equal(1);
      expect(named.get("webhook_deliveries")?.newRows).to.equal(2);
      expect(named.get("installation")?.newRows).to.equal(null);
      for (const { bytes } of tables)
        expect(bytes === null || (Number.isSafeInteger(bytes) && bytes >= 0)).to.equal(true);
      // Estimates follow later.
      if (!areRowsEstimated) expect(named.get("jobs")?.rows).to.be.at.least(2);
    });

    it("knows its size, or says that it does not", async () => {
      const { bytes, freeBytes } = await storage.growth.size();
      for (const size of [bytes, freeBytes]) if (size !== null) expect(Number.isSafeInteger(size)).to.equal(true);
      if (bytes !== null) expect(bytes).to.be.above(freeBytes ?? 0);
    });
  });
}
