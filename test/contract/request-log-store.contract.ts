import { expect } from "chai";
import type { AccountId } from "../../core/ids.js";
import type { Job, JobKind } from "../../core/jobs/job.js";
import type { RequestQuery } from "../../core/ports/request-log-store.js";
import type { LoggedRequest } from "../../core/ports/request-log.js";
import { aJob, aJobRequest, aLoggedRequest, anId, NOON } from "../support/builders.js";
import type { StorageWith } from "../support/storage-under-test.js";
import { requestCounts } from "./request-log-store/counts.js";
import { requestCredits } from "./request-log-store/credits.js";

type Storage = StorageWith<"jobs" | "requestLog">;

const ROUTE = "/api/v1/generations";
/** Random logs that are counted. */
const LOGS = 25;
/** Random jobs whose credits are summed. */
const CREDITS = 15;

/**
 * The promises of every `RequestLogStore`.
 *
 * @param open opens a storage without rows, once for the suite; {@link storageUnderTest} creates it
 */
export function requestLogStoreContract(name: string, open: () => Promise<Storage>): void {
  describe(`RequestLogStore contract: ${name}`, () => {
    let storage: Storage;
    before(async () => {
      storage = await open();
    });
    after(() => storage.close());

    const insert = (...requests: readonly LoggedRequest[]): Promise<void> =>
      storage.inTransaction((tx) => storage.requestLog.insert(tx, requests));
    const insertJobs = (...jobs: readonly Job[]): Promise<void> =>
      storage.inTransaction((tx) => storage.jobs.insertJobs(tx, jobs));
    const list = (
      query: Partial<RequestQuery> & Pick<RequestQuery, "accountId">,
      limit = 1_000,
    ): Promise<LoggedRequest[]> => storage.requestLog.list({ from: 0, to: Number.MAX_SAFE_INTEGER, ...query }, limit);
    const always = (accountId: AccountId): RequestQuery => ({ accountId, from: 0, to: Number.MAX_SAFE_INTEGER });

    it("stores every member", async () => {
      const full = aLoggedRequest({
        method: "DELETE",
        path: `/api/v1/webhook-endpoints/${"🎵".repeat(200)}`,
        route: "/api/v1/webhook-endpoints/{id}",
        status: 404,
        errorCode: "webhook_endpoint_not_found",
        requestBytes: 0,
        responseBytes: 5_000_000_000,
        jobId: anId("job"),
        client: "🎧 ".repeat(50),
      });
      const empty = aLoggedRequest({
        accountId: full.accountId,
        requestBytes: null,
        responseBytes: null,
        createdAt: NOON - 1,
      });
      await insert(full, empty);
      expect(await list({ accountId: full.accountId })).to.deep.equal([full, empty]);
    });

    it("changes nothing for repeated rows, also among new ones", async () => {
      const [first, second] = [aLoggedRequest(), aLoggedRequest()];
      await insert(first);
      await insert(second, first);
      expect(await storage.requestLog.count(always(first.accountId))).to.deep.equal({ requests: 1, failed: 0 });
      expect(await list({ accountId: first.accountId })).to.deep.equal([first]);
      expect(await list({ accountId: second.accountId })).to.deep.equal([second]);
    });

    it("counts all requests of a row, by every filter, and accepts a row with a higher count", async () => {
      const accountId = anId("acct");
      const refused = { accountId, status: 429, errorCode: "rate_limited", client: "cli" } as const;
      const [merged, single, fine] = [
        aLoggedRequest({ ...refused, count: 5 }),
        aLoggedRequest({ ...refused, createdAt: NOON + 1 }),
        aLoggedRequest({ accountId }),
      ];
      await insert(merged, single, fine);
      await insert({ ...merged, count: 70 });
      expect((await list({ accountId })).find(({ id }) => id === merged.id)).to.deep.equal({ ...merged, count: 70 });
      const count = (filter: Partial<RequestQuery>): Promise<unknown> =>
        storage.requestLog.count({ ...always(accountId), ...filter });
      expect(await count({})).to.deep.equal({ requests: 72, failed: 71 });
      expect(await count({ status: 429, client: "cli", route: merged.route })).to.deep.equal({
        requests: 71,
        failed: 71,
      });
      expect(await count({ status: 200 })).to.deep.equal({ requests: 1, failed: 0 });
      expect(await count({ client: "other" })).to.deep.equal({ requests: 0, failed: 0 });
      expect(await count({ route: ROUTE })).to.deep.equal({ requests: 0, failed: 0 });
      expect(await count({ from: NOON + 1 })).to.deep.equal({ requests: 1, failed: 1 });
      expect(await storage.requestLog.count(always(anId("acct")))).to.deep.equal({ requests: 0, failed: 0 });
    });

    it("accepts an empty list, and more rows than fit into one statement", async () => {
      const accountId = anId("acct");
      await insert();
      await insert(...Array.from({ length: 1_100 }, () => aLoggedRequest({ accountId })));
      expect(await storage.requestLog.count(always(accountId))).to.deep.equal({ requests: 1_100, failed: 0 });
    });

    it("lists the newest first, then by descending id, up to the limit", async () => {
      const accountId = anId("acct");
      const rows = [1, 0, 2, 1, 0].map((ms) => aLoggedRequest({ accountId, createdAt: NOON + ms }));
      await insert(...rows);
      const order = [2, 3, 0, 4, 1].map((index) => rows[index]);
      expect(await list({ accountId })).to.deep.equal(order);
      expect(await list({ accountId }, 3)).to.deep.equal(order.slice(0, 3));
    });

    it("goes on behind a row, also among rows of one moment and by every filter", async () => {
      const accountId = anId("acct");
      const filters = { client: "cli", route: ROUTE, status: 404 };
      const rows = [2, 1, 1, 1, 0].map((ms) => aLoggedRequest({ accountId, ...filters, createdAt: NOON + ms }));
      await insert(...rows, aLoggedRequest({ accountId, client: "other", createdAt: NOON + 1 }));
      const order = [...rows].sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1));
      for (const filter of [{ client: "cli" }, { route: ROUTE }, { status: 404 }, filters]) {
        const query = { ...always(accountId), ...filter };
        for (const [index, row] of order.entries())
          expect(await storage.requestLog.list(query, 2, row)).to.deep.equal(order.slice(index + 1, index + 3));
        const earlier = await storage.requestLog.list({ ...query, to: NOON + 1 }, 9, order[0]);
        expect(earlier, "behind a row that is newer than the query").to.deep.equal([order[4]]);
      }
    });

    it("never returns another account's rows", async () => {
      const [mine, foreign] = [aLoggedRequest(), aLoggedRequest()];
      await insert(mine, foreign);
      expect(await list({ accountId: mine.accountId })).to.deep.equal([mine]);
      expect(await list({ accountId: anId("acct") })).to.deep.equal([]);
      expect(await storage.requestLog.count(always(anId("acct")))).to.deep.equal({ requests: 0, failed: 0 });
    });

    it("returns rows from one moment to before another", async () => {
      const accountId = anId("acct");
      const rows = [0, 1, 2].map((ms) => aLoggedRequest({ accountId, createdAt: NOON + ms }));
      await insert(...rows);
      const between = (from: number, to: number): Promise<LoggedRequest[]> =>
        list({ accountId, from: NOON + from, to: NOON + to });
      expect(await between(1, 2)).to.deep.equal([rows[1]]);
      expect(await between(0, 3)).to.have.length(3);
      expect(await between(1, 1)).to.deep.equal([]);
      expect(await between(2, 0)).to.deep.equal([]);
      expect(await storage.requestLog.count({ accountId, from: NOON + 2, to: NOON })).to.deep.equal({
        requests: 0,
        failed: 0,
      });
    });

    it("finds and counts by client, route and status, each alone and together, byte by byte", async () => {
      const accountId = anId("acct");
      const clients = ["cli", "CLI", "cli ", "Ä", null];
      const rows = clients.flatMap((client) =>
        [ROUTE, "/api/v1/me"].flatMap((route) =>
          [202, 404].map((status) => aLoggedRequest({ accountId, client, route, status })),
        ),
      );
      await insert(...rows);
      const filters = [undefined, "cli", "Ä", "cl", ""].flatMap((client) =>
        [undefined, ROUTE, "/api/v1", "/api/v1/ME", "🎵"].flatMap((route) =>
          [undefined, 202, 404, 500].map((status) => ({ client, route, status })),
        ),
      );
      for (const filter of filters) {
        const fits = rows.filter((row) =>
          Object.entries(filter).every(([member, value]) => value === undefined || row[member as "client"] === value),
        );
        const query = { ...always(accountId), ...filter };
        expect(await list(query), JSON.stringify(filter)).to.have.deep.members(fits);
        const failed = fits.filter(({ status }) => status >= 400).length;
        expect(await storage.requestLog.count(query), JSON.stringify(filter)).to.deep.equal({
          requests: fits.length,
          failed,
        });
      }
    });

    it("counts 400 and above as failed", async () => {
      const accountId = anId("acct");
      await insert(...[200, 399, 400, 499, 500].map((status) => aLoggedRequest({ accountId, status })));
      expect(await storage.requestLog.count(always(accountId))).to.deep.equal({ requests: 5, failed: 3 });
    });

    it("deletes the oldest rows up to a moment, up to the limit, and returns their number", async () => {
      const accountId = anId("acct");
      const longAgo = 1_000_000;
      const rows = [1, 2, 3, 4].map((ms) => aLoggedRequest({ accountId, createdAt: longAgo + ms }));
      await insert(...rows);
      const deleteOld = (before: number, limit: number): Promise<number> =>
        storage.inTransaction((tx) => storage.requestLog.deleteOld(tx, before, limit));
      expect(await deleteOld(longAgo + 4, 0)).to.equal(0);
      expect(await deleteOld(longAgo + 4, 2)).to.equal(2);
      expect(await list({ accountId })).to.deep.equal([rows[3], rows[2]]);
      expect(await deleteOld(longAgo + 4, 2)).to.equal(1);
      expect(await deleteOld(longAgo + 4, 2)).to.equal(0);
      expect(await list({ accountId })).to.deep.equal([rows[3]]);
    });

    describe("counts", () => requestCounts(() => storage, LOGS));

    describe("credits in any window", () => requestCredits(() => storage, CREDITS));

    describe("credits", () => {
      /** A job with the request that created it, as in the log. */
      const aPair = (
        overrides: Partial<Job> = {},
        request: Partial<LoggedRequest> = {},
      ): { readonly job: Job; readonly row: LoggedRequest } => {
        const accountId = overrides.accountId ?? anId("acct");
        const row = aLoggedRequest({ accountId, method: "POST", path: ROUTE, route: ROUTE, status: 202, ...request });
        const base = { requestId: row.id, requestedAt: row.createdAt, createdAt: row.createdAt + 3, accountId };
        return { row, job: aJob({ request: aJobRequest({ client: row.client }), ...base, ...overrides }) };
      };

      it("of a request are its reservation and its refund", async () => {
        const accountId = anId("acct");
        const pairs = (["queued", "processing", "completed", "failed"] as const).map((status, index) =>
          aPair({ accountId, status, reserved: { monthly: 10 * (index + 1), pack: index } }),
        );
        await insertJobs(...pairs.map(({ job }) => job));
        // Another account's, as if it had been asked for by the same request.
        const foreign = { id: anId("job"), accountId: anId("acct"), reserved: { monthly: 999, pack: 0 } } as const;
        await insertJobs({ ...(pairs[0]?.job ?? aJob()), ...foreign });
        const found = await storage.requestLog.creditsOf([
          ...pairs.map(({ row }) => row),
          aLoggedRequest({ accountId }),
        ]);
        expect([...found]).to.have.deep.members(
          pairs.map(({ row, job }) => {
            const used = job.reserved.monthly + job.reserved.pack;
            return [row.id, { used, refunded: job.status === "failed" ? used : 0 }];
          }),
        );
        expect(await storage.requestLog.creditsOf([])).to.deep.equal(new Map());
      });

      it("are summed without any row of the log", async () => {
        const accountId = anId("acct");
        const [kept, failed, older, foreign] = [
          aPair({ accountId, status: "completed", reserved: { monthly: 3, pack: 4 } }),
          aPair({ accountId, status: "failed", reserved: { monthly: 0, pack: 20 } }),
          aPair({ accountId, status: "failed", reserved: { monthly: 100, pack: 0 } }, { createdAt: NOON - 1 }),
          aPair({ reserved: { monthly: 1_000, pack: 0 } }),
        ];
        const withoutRow = aJob({ accountId, reserved: { monthly: 10_000, pack: 0 }, status: "failed" });
        await insertJobs(kept.job, failed.job, older.job, foreign.job, withoutRow);
        const sum = (from: number, to: number): Promise<object> =>
          storage.requestLog.sumCredits({ accountId, from, to });
        expect(await sum(0, NOON + 1)).to.deep.equal({ used: 127, refunded: 120 });
        expect(await sum(NOON, NOON + 1)).to.deep.equal({ used: 27, refunded: 20 });
        expect(await sum(0, NOON)).to.deep.equal({ used: 100, refunded: 100 });
        expect(await sum(NOON + 1, NOON + 100)).to.deep.equal({ used: 0, refunded: 0 });
        expect(await storage.requestLog.sumCredits(always(anId("acct")))).to.deep.equal({ used: 0, refunded: 0 });
      });

      it("are filtered by the client of the job, byte by byte", async () => {
        const accountId = anId("acct");
        const pairs = ["cli", "CLI", "cli ", null].map((client, index) =>
          aPair(
            { accountId, status: index === 0 ? "failed" : "queued", reserved: { monthly: 10 ** index, pack: 0 } },
            { client },
          ),
        );
        await insertJobs(...pairs.map(({ job }) => job));
        const sum = (client: string): Promise<object> =>
          storage.requestLog.sumCredits({ ...always(accountId), client });
        expect(await sum("cli")).to.deep.equal({ used: 1, refunded: 1 });
        expect(await sum("CLI")).to.deep.equal({ used: 10, refunded: 0 });
        expect(await sum("")).to.deep.equal({ used: 0, refunded: 0 });
      });

      it("are filtered by the kind of the job", async () => {
        const accountId = anId("acct");
        const kinds = ["music", "stem_split", "vocal_removal"] as const;
        const pairs = kinds.map((kind, index) =>
          aPair({
            accountId,
            kind,
            status: index === 1 ? "failed" : "queued",
            reserved: { monthly: 10 ** index, pack: 0 },
          }),
        );
        await insertJobs(...pairs.map(({ job }) => job));
        await insert(...pairs.map(({ row }) => ({ ...row, status: 502 })));
        const sum = (kind: JobKind, status?: number): Promise<object> =>
          storage.requestLog.sumCredits({ ...always(accountId), kind, status });
        for (const status of [undefined, 502]) {
          expect(await sum("music", status)).to.deep.equal({ used: 1, refunded: 0 });
          expect(await sum("stem_split", status)).to.deep.equal({ used: 10, refunded: 10 });
          expect(await sum("vocal_removal", status)).to.deep.equal({ used: 100, refunded: 0 });
        }
      });

      it("are filtered by the status of the row, 202 while there is none", async () => {
        const accountId = anId("acct");
        const [accepted, unavailable, lost] = [
          aPair({ accountId, reserved: { monthly: 1, pack: 0 } }),
          aPair({ accountId, status: "failed", reserved: { monthly: 20, pack: 0 } }, { status: 502 }),
          aPair({ accountId, status: "failed", reserved: { monthly: 300, pack: 0 } }, { status: 502, client: "cli" }),
        ];
        await insertJobs(accepted.job, unavailable.job, lost.job);
        await insert(accepted.row, unavailable.row);
        const sum = (status: number, client?: string): Promise<object> =>
          storage.requestLog.sumCredits({ ...always(accountId), status, client });
        expect(await sum(202)).to.deep.equal({ used: 301, refunded: 300 });
        expect(await sum(502)).to.deep.equal({ used: 20, refunded: 20 });
        for (const other of [200, 404, 499, 500]) expect(await sum(other)).to.deep.equal({ used: 0, refunded: 0 });
        expect(await sum(202, "cli")).to.deep.equal({ used: 300, refunded: 300 });
      });
    });
  });
}
