import { expect } from "chai";
import { dataOf } from "../../support/api-client.js";
import { eventually, makePrivateBroker, openQueueSpace, type PrivateBroker } from "../../support/rabbitmq.js";
import { startTestApp, type TestAccount, type TestApp } from "../../support/test-app.js";

/** One server and one worker in one process; it recovers without a restart. */
describe("An app whose broker is killed, restarted or short of memory", function () {
  // A broker takes seconds to start.
  this.timeout(90_000);

  let broker: PrivateBroker;
  let test: TestApp;
  let caller: TestAccount;

  before(async () => {
    broker = await makePrivateBroker();
    const { url } = await openQueueSpace(broker.server);
    // The broker is not running yet.
    test = await startTestApp({ work: true, settings: { queue: { url } } });
    caller = await test.account();
  });

  after(async () => {
    await test.close();
    await broker.remove();
  });

  /** Accepted, completed, and each submitted to the provider once. */
  async function runsOnce(): Promise<void> {
    const before = test.provider.submissions.length;
    const responses = await Promise.all(Array.from({ length: 3 }, () => caller.api.generate()));
    expect(responses.map(({ status }) => status)).to.deep.equal([202, 202, 202]);
    const ids = responses.map((response) => dataOf<{ readonly id: string }>(response).id);
    await eventually(async () => {
      for (const id of ids)
        expect(dataOf(await caller.api.get(`/api/v1/jobs/${id}`))).to.include({ status: "completed" });
    });
    expect(test.provider.submissions.slice(before).map(({ jobId }) => jobId)).to.have.members(ids);
  }

  async function isReady(): Promise<void> {
    expect((await test.anonymous.get("/readyz")).json).to.deep.equal({ status: "ok" });
  }

  async function isDegraded(): Promise<void> {
    const { status, json } = await test.anonymous.get("/readyz");
    expect([status, json]).to.deep.equal([200, { status: "degraded", not_ready: ["queue"] }]);
  }

  /** During the fault and after it. */
  async function goesOn(fix: () => Promise<void>): Promise<void> {
    await eventually(isDegraded);
    await runsOnce();
    await isDegraded();
    await fix();
    await eventually(isReady);
    await runsOnce();
  }

  it("starts, accepts and runs jobs before the broker is up", () => goesOn(() => broker.start()));

  it("accepts and runs jobs while the broker blocks publishers for lack of memory", async () => {
    await broker.control("set_vm_memory_high_watermark", "0.000001");
    // The broker notifies a connection with its next message.
    await runsOnce();
    await goesOn(() => broker.control("set_vm_memory_high_watermark", "0.4"));
  });

  it("accepts and runs jobs while the broker is restarted", async () => {
    await broker.control("stop_app");
    await goesOn(() => broker.control("start_app"));
  });

  it("accepts and runs jobs after kill -9 of the broker", async () => {
    await broker.kill();
    await goesOn(() => broker.start());
  });

  it("has lost and duplicated no job", async () => {
    const { violations, checked } = await test.app.credits.verify();
    expect([violations, checked.jobs]).to.deep.equal([[], test.provider.submissions.length]);
  });
});
