import { expect } from "chai";
import fc from "fast-check";
import type { CountedRequests, RequestCounts, RequestQuery } from "../../../core/ports/request-log-store.js";
import type { LoggedRequest } from "../../../core/ports/request-log.js";
import { aLoggedRequest, anId, NOON } from "../../support/builders.js";
import type { StorageWith } from "../../support/storage-under-test.js";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** Midnight in UTC. */
const MIDNIGHT = NOON - (NOON % DAY_MS);
const HOUR = MIDNIGHT + 12 * HOUR_MS;
/** Offsets of time zones from UTC, in minutes. */
const ZONES = [0, -720, -210, 60, 330, 345, 840] as const;

/** Moments at, before and after the beginning of days and hours, in UTC and elsewhere, and any other. */
const aMoment = (): fc.Arbitrary<number> =>
  fc
    .record({
      days: fc.integer({ min: 0, max: 4 }),
      hours: fc.constantFrom(0, 0, 1, 11, 23),
      zone: fc.constantFrom(...ZONES),
      ms: fc.oneof(fc.constantFrom(0, 0, -1, 1), fc.nat(HOUR_MS)),
    })
    .map(({ days, hours, zone, ms }) => MIDNIGHT + days * DAY_MS + hours * HOUR_MS - zone * MINUTE_MS + ms);

const aRow = (): fc.Arbitrary<Partial<LoggedRequest>> =>
  fc
    .record({
      createdAt: aMoment(),
      client: fc.constantFrom(null, "cli", "*", "=cli"),
      route: fc.constantFrom("/api/v1/me", "/api/v1/jobs/{id}"),
      status: fc.constantFrom(200, 399, 400, 429, 503),
      count: fc.integer({ min: 2, max: 50 }),
    })
    .map(({ count, ...row }) => ({ ...row, count: row.status === 429 ? count : 1 }));

const aFilter = (): fc.Arbitrary<Partial<RequestQuery>> =>
  fc.record({
    from: fc.oneof(fc.constant(0), aMoment()),
    to: fc.oneof(fc.constant(Number.MAX_SAFE_INTEGER), aMoment()),
    client: fc.constantFrom(undefined, undefined, "cli", "*", "=cli", "none"),
    route: fc.constantFrom(undefined, undefined, "/api/v1/me", "none"),
    status: fc.constantFrom(undefined, undefined, 200, 400, 429, 503),
  });

/** One by one. */
function counted(rows: readonly LoggedRequest[], { from, to, client, route, status }: RequestQuery): RequestCounts {
  let [requests, failed] = [0, 0];
  for (const row of rows) {
    if (row.createdAt < from || row.createdAt >= to) continue;
    if (client !== undefined && row.client !== client) continue;
    if (route !== undefined && row.route !== route) continue;
    if (status !== undefined && row.status !== status) continue;
    requests += row.count;
    if (row.status >= 400) failed += row.count;
  }
  return { requests, failed };
}

/** @param runs random logs that are counted */
export function requestCounts(
  opened: () => Pick<StorageWith<"requestLog">, "requestLog" | "inTransaction">,
  runs: number,
): void {
  const insert = (...requests: readonly LoggedRequest[]): Promise<void> =>
    opened().inTransaction((tx) => opened().requestLog.insert(tx, requests));
  const insertNew = (...requests: readonly LoggedRequest[]): Promise<void> =>
    opened().inTransaction((tx) => opened().requestLog.insert(tx, requests, { areNew: true }));
  const deleteOldCounts = (begunBefore: number, limit: number): Promise<number> =>
    opened().inTransaction((tx) => opened().requestLog.deleteOldCounts(tx, begunBefore, limit));

  it("are those of a plain count of the rows, for any log, window and filter", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(aRow(), { maxLength: 40 }),
        fc.array(aFilter(), { minLength: 10, maxLength: 30 }),
        fc.nat(40),
        async (drawn, filters, repeated) => {
          const accountId = anId("acct");
          const rows = drawn.map((row) => aLoggedRequest({ ...row, accountId }));
          await insertNew(...rows);
          // Some of them again; what stands for several requests has grown.
          const grown = rows.map((row, index) =>
            index < repeated && row.count > 1 ? { ...row, count: row.count + 7 } : row,
          );
          await insert(...grown.slice(0, repeated), aLoggedRequest());
          for (const filter of filters) {
            const query = { accountId, from: 0, to: Number.MAX_SAFE_INTEGER, ...filter };
            const found = await opened().requestLog.count(query);
            expect(found, JSON.stringify(query)).to.deep.equal(counted(grown, query));
          }
        },
      ),
      { numRuns: runs },
    );
  });

  it("are the same when several transactions write requests of one account, hour and endpoint at once", async () => {
    const accountId = anId("acct");
    const batches = Array.from({ length: 20 }, (_, batch) =>
      Array.from({ length: 30 }, (_, index) =>
        aLoggedRequest({ accountId, status: [200, 404, 202][(batch + index) % 3] ?? 200, createdAt: NOON - index }),
      ),
    );
    await Promise.all(batches.map((batch) => insert(...batch)));
    const all = { accountId, from: MIDNIGHT, to: MIDNIGHT + DAY_MS };
    expect(await opened().requestLog.count(all)).to.deep.equal({ requests: 600, failed: 200 });
    expect(await opened().requestLog.count({ ...all, status: 202 })).to.deep.equal({ requests: 200, failed: 0 });
  });

  it("are not doubled by rows that were taken for new ones: the transaction runs again", async () => {
    const accountId = anId("acct");
    const [known, fresh] = [aLoggedRequest({ accountId }), aLoggedRequest({ accountId })];
    await insertNew(known);
    const retries: boolean[] = [];
    await opened().inTransaction((tx, { isRetry }) => {
      retries.push(isRetry);
      return opened().requestLog.insert(tx, [fresh, known], { areNew: !isRetry });
    });
    expect(retries).to.deep.equal([false, true]);
    const all = { accountId, from: MIDNIGHT, to: MIDNIGHT + DAY_MS };
    expect(await opened().requestLog.count(all)).to.deep.equal({ requests: 2, failed: 0 });
    expect(await opened().requestLog.list(all, 10)).to.have.deep.members([known, fresh]);
  });

  it("of a transaction that was rolled back are not there", async () => {
    const accountId = anId("acct");
    const failure = new Error("scripted");
    const work = opened().inTransaction(async (tx) => {
      await opened().requestLog.insert(tx, [aLoggedRequest({ accountId })]);
      throw failure;
    });
    expect(await work.catch((error: unknown) => error)).to.equal(failure);
    const all = { accountId, from: MIDNIGHT, to: MIDNIGHT + DAY_MS };
    expect(await opened().requestLog.count(all)).to.deep.equal({ requests: 0, failed: 0 });
  });

  it("are listed by hours, the oldest first, in pages", async () => {
    const accountId = anId("acct");
    const [me, jobs] = ["/api/v1/me", "/api/v1/jobs/{id}"];
    const rows: readonly Partial<LoggedRequest>[] = [
      { route: me, status: 200, client: "cli" },
      { route: me, status: 200 },
      { route: me, status: 404 },
      { route: jobs, status: 429, count: 30 },
      { route: jobs, status: 200, createdAt: HOUR - 1 },
    ];
    await insert(...rows.map((row) => aLoggedRequest({ accountId, createdAt: HOUR + 5, ...row })));
    const expected: readonly CountedRequests[] = [
      { startsAt: HOUR - HOUR_MS, route: jobs, status: 200, count: 1 },
      { startsAt: HOUR, route: jobs, status: 429, count: 30 },
      { startsAt: HOUR, route: me, status: 200, count: 2 },
      { startsAt: HOUR, route: me, status: 404, count: 1 },
    ];
    expect(await opened().requestLog.listCounts(accountId, 10)).to.deep.equal(expected);
    for (const [index, one] of expected.entries())
      expect(await opened().requestLog.listCounts(accountId, 2, one)).to.deep.equal(
        expected.slice(index + 1, index + 3),
      );
  });

  it("of days that are over for long are deleted, up to the limit", async () => {
    const accountId = anId("acct");
    const longAgo = MIDNIGHT - 1_000 * DAY_MS;
    while ((await deleteOldCounts(longAgo, 1_000)) > 0) continue;
    await insert(
      aLoggedRequest({ accountId, createdAt: longAgo }),
      aLoggedRequest({ accountId, createdAt: longAgo + DAY_MS }),
    );
    const left = async (): Promise<number[]> =>
      (await opened().requestLog.listCounts(accountId, 10)).map(({ startsAt }) => startsAt);
    expect(await deleteOldCounts(longAgo, 10)).to.equal(0);
    expect(await deleteOldCounts(longAgo + 1, 1)).to.equal(1);
    expect(await deleteOldCounts(longAgo + 1, 10)).to.equal(1);
    expect(await left()).to.deep.equal([longAgo + DAY_MS]);
    expect(await deleteOldCounts(longAgo + 2 * DAY_MS, 10)).to.equal(2);
    expect(await left()).to.deep.equal([]);
  });

  it("have nothing left to count when every row was counted as it came", async () => {
    await insert(aLoggedRequest());
    const { inTransaction, requestLog } = opened();
    expect(await inTransaction((tx) => requestLog.countNext(tx, Date.now(), 1))).to.equal(false);
  });
}
