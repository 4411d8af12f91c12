import { expect } from "chai";
import sinon from "sinon";
import { KnexRequestLogStore } from "../../adapters/storage/sql/usage/request-log-store.js";
import { ServiceUnavailableError } from "../../core/errors.js";
import { dataOf } from "../support/api-client.js";
import { ManualClock } from "../support/doubles/manual-clock.js";
import { startTestApp, type TestAccount, type TestApp } from "../support/test-app.js";
import { ledgerFigures } from "./storage-reader.js";

describe("A request log that cannot be written", () => {
  let clock: ManualClock;
  let test: TestApp;
  let caller: TestAccount;
  beforeEach(async () => {
    clock = new ManualClock();
    test = await startTestApp({ clock });
    caller = await test.account();
  });
  afterEach(() => test.close());

  const summary = async (): Promise<{ readonly requests: number }> =>
    dataOf<{ readonly summary: { readonly requests: number } }>(
      await caller.api.get("/api/v1/usage?endpoint=/api/v1/generations"),
    ).summary;
  const dropped = async (): Promise<string | undefined> =>
    /^fermata_request_log_dropped_total (\d+)$/m.exec((await test.anonymous.get("/metrics")).text)?.[1];

  it("delays no response and changes no credit figures; its rows are written after the fault", async () => {
    const outage = sinon.stub(KnexRequestLogStore.prototype, "insert").rejects(new ServiceUnavailableError());
    for (const status of [202, 202]) expect((await caller.api.generate()).status).to.equal(status);
    expect((await caller.api.get("/api/v1/logs")).json).to.deep.equal({ data: { logs: [], next_cursor: null } });
    const ledger = await ledgerFigures(test, caller.account.id);
    expect(ledger).to.deep.equal({ credits_used: 20, credits_refunded: 0 });
    expect(await summary()).to.deep.equal({ requests: 0, failed_requests: 0, ...ledger });
    outage.restore();
    // The longest pause between attempts.
    await clock.advance(5_000);
    while ((await summary()).requests === 0);
    expect(await summary()).to.deep.equal({ requests: 2, failed_requests: 0, ...ledger });
    expect(await dropped()).to.equal("0");
  });

  it("counts lost rows, and never loses credits", async () => {
    sinon.stub(KnexRequestLogStore.prototype, "insert").rejects(new Error("too long for its column"));
    await caller.api.generate();
    const ledger = await ledgerFigures(test, caller.account.id);
    expect(ledger).to.deep.equal({ credits_used: 10, credits_refunded: 0 });
    expect(await summary()).to.deep.equal({ requests: 0, failed_requests: 0, ...ledger });
    expect(await dropped()).to.equal("1");
  });
});
