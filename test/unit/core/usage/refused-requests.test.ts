import { expect } from "chai";
import { REFUSED_ROWS_MAX, RefusedRequests } from "../../../../core/usage/refused-requests.js";
import type { LoggedRequest } from "../../../../core/ports/request-log.js";
import { aLoggedRequest, anId, NOON } from "../../../support/builders.js";

const MINUTE_MS = 60_000;
const accountId = anId("acct");
const refused = (given: Partial<LoggedRequest> = {}): LoggedRequest =>
  aLoggedRequest({ accountId, status: 429, errorCode: "rate_limited", ...given });

describe("Refused requests", () => {
  let requests: RefusedRequests;
  beforeEach(() => {
    requests = new RefusedRequests();
  });

  /** How many of these get a row of their own. */
  const rowsOf = (count: number, given: Partial<LoggedRequest> = {}): number =>
    Array.from({ length: count }, () => requests.merge(refused(given))).filter((isMerged) => !isMerged).length;
  const counts = (): number[] => requests.changed(100).map(({ count }) => count);

  it("have a row each up to 20 of a minute, and then one row that counts the rest", () => {
    expect(rowsOf(REFUSED_ROWS_MAX)).to.equal(20);
    expect(requests.isWritten).to.equal(true);
    expect(rowsOf(500)).to.equal(0);
    expect(counts()).to.deep.equal([500]);
  });

  it("are counted separately by account, kind of limit and minute", () => {
    const generation = { method: "POST", route: "/api/v1/generations" };
    const others: readonly Partial<LoggedRequest>[] = [
      {},
      { accountId: anId("acct") },
      generation,
      { method: "DELETE", route: "/api/v1/webhook-endpoints/{id}" },
      { createdAt: NOON + MINUTE_MS },
    ];
    for (const [more, given] of others.entries()) expect(rowsOf(21 + more, given)).to.equal(20);
    expect(counts()).to.deep.equal([1, 2, 3, 4, 5]);
  });

  it("are distinguished from all other requests, which always have a row", () => {
    for (const status of [200, 202, 404, 409, 499, 503]) expect(rowsOf(30, { status })).to.equal(30);
  });

  it("keep the first of them as what the row shows, and its id while it grows", () => {
    rowsOf(REFUSED_ROWS_MAX);
    const first = refused({ path: "/api/v1/me", client: "cli" });
    requests.merge(first);
    requests.merge(refused({ path: "/api/v1/credits" }));
    expect(requests.changed(100)).to.deep.equal([{ ...first, count: 2 }]);
  });

  it("are written again only when they have grown", () => {
    rowsOf(30);
    const rows = requests.changed(100);
    rowsOf(1);
    requests.wereWritten(rows);
    expect(counts()).to.deep.equal([11]);
    requests.wereWritten(requests.changed(100));
    expect(requests.isWritten).to.equal(true);
  });

  it("of the previous minute are still counted, when a response took long", () => {
    rowsOf(25);
    rowsOf(1, { createdAt: NOON + MINUTE_MS });
    expect(rowsOf(5)).to.equal(0);
    expect(counts()).to.deep.equal([10]);
  });

  it("are forgotten after that: an hour of requests leaves two minutes of counts", () => {
    rowsOf(25);
    rowsOf(1, { createdAt: NOON + 2 * MINUTE_MS });
    expect(rowsOf(5), "they are counted from the first again").to.equal(5);
  });

  it("are read alike with GET and HEAD, and create something only with POST", () => {
    const generation = { route: "/api/v1/generations" };
    rowsOf(REFUSED_ROWS_MAX, { method: "GET" });
    expect(rowsOf(1, { method: "HEAD" })).to.equal(0);
    rowsOf(REFUSED_ROWS_MAX, { method: "POST", ...generation });
    expect(rowsOf(1, { method: "DELETE", ...generation }), "a write of its own").to.equal(1);
    expect(rowsOf(1, { method: "POST", route: "/api/v1/webhook-endpoints" })).to.equal(1);
    rowsOf(REFUSED_ROWS_MAX, { method: "DELETE", ...generation });
    expect(rowsOf(1, { method: "POST", route: "/api/v1/webhook-endpoints" })).to.equal(0);
  });

  it("are returned as many as asked for, and are not all written before", () => {
    for (const accountOf of [anId("acct"), anId("acct")]) rowsOf(21, { accountId: accountOf });
    expect(requests.changed(1)).to.have.length(1);
    expect(requests.isWritten).to.equal(false);
    requests.wereWritten(requests.changed(1));
    expect(requests.isWritten).to.equal(false);
    requests.wereWritten(requests.changed(1));
    expect(requests.isWritten).to.equal(true);
  });
});
