import { expect } from "chai";
import { aJob, aMovement, anAttempt, anId, aReservation, aSettlement, NOON } from "../support/builders.js";
import type { LoggedRequest } from "../../core/ports/request-log.js";
import type { StorageWith } from "../support/storage-under-test.js";

type Storage = StorageWith<"activity" | "requestLog" | "jobs" | "ledger" | "addAccount" | "balanceOf" | "apply">;

const MINUTE_MS = 60_000;

/**
 * The promises of every `ActivityStore`.
 *
 * @param open opens a storage without rows, once for the suite; {@link storageUnderTest} creates it
 */
export function activityStoreContract(name: string, open: () => Promise<Storage>): void {
  describe(`ActivityStore contract: ${name}`, () => {
    let storage: Storage;
    before(async () => {
      storage = await open();
    });
    after(() => storage.close());

    it("finds nothing where nothing happened", async () => {
      expect(await storage.activity.activityIn({ from: NOON + MINUTE_MS, to: NOON + 2 * MINUTE_MS })).to.deep.equal({
        requests: { total: 0, refused: 0, clientErrors: 0, serverErrors: 0 },
        jobs: { accepted: 0, completed: 0, failed: 0 },
        credits: { granted: 0, renewed: 0, expired: 0, reserved: 0, charged: 0, refunded: 0 },
        providers: [],
      });
    });

    it("counts requests by their status, from the first moment of the span to the last before its end", async () => {
      const from = NOON + 10 * MINUTE_MS;
      const accountId = anId("acct");
      const aRequest = (status: number, createdAt: number, count = 1): LoggedRequest => ({
        id: anId("req"),
        accountId,
        method: "GET",
        path: "/api/v1/me",
        route: "/api/v1/me",
        status,
        errorCode: null,
        requestBytes: null,
        responseBytes: 10,
        jobId: null,
        client: null,
        createdAt,
        count,
      });
      const statuses = [200, 202, 404, 499, 500, 503];
      await storage.inTransaction((tx) =>
        storage.requestLog.insert(tx, [
          ...statuses.map((status, index) => aRequest(status, from + index)),
          aRequest(429, from, 40),
          aRequest(200, from - 1),
          aRequest(200, from + MINUTE_MS),
        ]),
      );
      const { requests } = await storage.activity.activityIn({ from, to: from + MINUTE_MS });
      expect(requests).to.deep.equal({ total: 46, refused: 40, clientErrors: 2, serverErrors: 2 });
    });

    it("counts jobs and sums up credits by what the ledger says of them", async () => {
      const from = NOON + 20 * MINUTE_MS;
      const { id: accountId } = await storage.addAccount({}, { monthly: 3 });
      for (const [kind, monthly] of [
        ["grant", 50],
        ["expire", -20],
        ["renew", 100],
      ] as const)
        await storage.apply(aMovement(await storage.balanceOf(accountId), { kind, monthly, createdAt: from }));
      const jobs = [1, 2, 3].map(() => aJob({ accountId, createdAt: from, reserved: { monthly: 5, pack: 0 } }));
      for (const job of jobs) {
        await storage.inTransaction((tx) => storage.jobs.insertJobs(tx, [job]));
        await storage.apply(aReservation(await storage.balanceOf(accountId), job));
      }
      const [completed, failed] = jobs as [(typeof jobs)[number], (typeof jobs)[number]];
      for (const [job, kind] of [
        [completed, "charge"],
        [failed, "refund"],
      ] as const) {
        const { after, entries } = aSettlement(await storage.balanceOf(accountId), job, kind);
        await storage.apply({ after, entries: entries.map((entry) => ({ ...entry, createdAt: from })) });
      }
      const { jobs: counts, credits } = await storage.activity.activityIn({ from, to: from + 1 });
      expect(counts).to.deep.equal({ accepted: 3, completed: 1, failed: 1 });
      expect(credits).to.deep.equal({
        granted: 50,
        renewed: 100,
        expired: 20,
        reserved: 15,
        charged: 5,
        refunded: 5,
      });
    });

    it("counts the attempts of each provider that ended, by what became of them", async () => {
      const from = NOON + 30 * MINUTE_MS;
      const ended = { acceptedAt: from - 1, endedAt: from } as const;
      await storage.inTransaction((tx) =>
        storage.jobs.insertAttempts(tx, [
          anAttempt({ providerId: "suno", ...ended, state: "settled" }),
          anAttempt({ providerId: "suno", ...ended, state: "failed", loss: "provider_failed" }),
          anAttempt({ providerId: "suno", ...ended, state: "abandoned", loss: "cancelled" }),
          // The same work as another attempt.
          anAttempt({ providerId: "suno", ...ended, state: "abandoned" }),
          anAttempt({ providerId: "fal", endedAt: from, state: "refused" }),
          // The provider has finished it, and the job goes on.
          anAttempt({ providerId: "fal", ...ended, state: "finished" }),
          anAttempt({ providerId: "synth", state: "intended" }),
          anAttempt({ providerId: "synth", ...ended, state: "finished" }),
        ]),
      );
      const { providers } = await storage.activity.activityIn({ from, to: from + 1 });
      expect(providers).to.deep.equal([
        { providerId: "fal", delivered: 0, failed: 1, wasted: 0 },
        { providerId: "suno", delivered: 1, failed: 1, wasted: 2 },
      ]);
    });
  });
}
