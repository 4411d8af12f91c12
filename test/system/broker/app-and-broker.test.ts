import type { ConsumeMessage } from "amqplib";
import { expect } from "chai";
import { RabbitmqJobQueue } from "../../../adapters/queue/rabbitmq/job-queue.js";
import type { JobQueue } from "../../../core/ports/job-queue.js";
import { dataOf } from "../../support/api-client.js";
import { RecordingLogger } from "../../support/doubles/recording-logger.js";
import { aNotification } from "../../support/builders.js";
import { eventually, openQueueSpace, openRelay, type QueueSpace, type Relay } from "../../support/rabbitmq.js";
import { startTestApp, type TestAccount, type TestApp } from "../../support/test-app.js";

describe("A serve process", () => {
  it("is ready before and after its first notification, which waits in the queue for a worker", async () => {
    const space = await openQueueSpace();
    const test = await startTestApp({ settings: { queue: { url: space.url } } });
    try {
      const { api } = await test.account();
      const readiness = async (): Promise<number> => (await test.anonymous.get("/readyz")).status;
      expect(await readiness()).to.equal(200);
      expect((await api.generate()).status).to.equal(202);
      const waiting = (): Promise<number> =>
        space.onServer(async (channel) => (await channel.checkQueue(space.queueOf("scripted"))).messageCount);
      await eventually(async () => expect(await waiting()).to.equal(1));
      expect(await readiness()).to.equal(200);
    } finally {
      await test.close();
      await space.clear("scripted");
    }
  });
});

describe("An app with a faulty broker", function () {
  this.timeout(60_000);

  let space: QueueSpace;
  let relay: Relay;
  let queue: RabbitmqJobQueue;
  let test: TestApp;
  let caller: TestAccount;

  before(async () => {
    space = await openQueueSpace();
    relay = await openRelay();
  });

  beforeEach(async () => {
    queue = await RabbitmqJobQueue.open({ url: space.through(relay.address), logger: new RecordingLogger() });
    test = await startTestApp({ work: true, queue });
    caller = await test.account();
  });

  afterEach(() => test.close());

  after(async () => {
    await relay.close();
    await space.clear("scripted", "synth");
  });

  /** Accepted at once, completed, and submitted to the provider once. */
  async function runsOnce(): Promise<void> {
    const before = test.provider.submissions.length;
    const response = await caller.api.generate();
    expect(response.status).to.equal(202);
    const { id } = dataOf<{ readonly id: string }>(response);
    await eventually(async () =>
      expect(dataOf(await caller.api.get(`/api/v1/jobs/${id}`))).to.include({ status: "completed" }),
    );
    expect(test.provider.submissions.slice(before).map(({ jobId }) => jobId)).to.deep.equal([id]);
  }

  const readiness = async (): Promise<unknown[]> => {
    const { status, json } = await test.anonymous.get("/readyz");
    return [status, json];
  };
  const READY = [200, { status: "ok" }];
  const WITHOUT_QUEUE = [200, { status: "degraded", not_ready: ["queue"] }];

  it("is ready, and publishes and receives notifications", async () => {
    expect(await readiness()).to.deep.equal(READY);
    await runsOnce();
    await eventually(() => expect(queue.counts).to.deep.equal({ confirmed: 1, unroutable: 0, dropped: 0 }));
  });

  it("accepts and runs jobs while the broker is down; /readyz is degraded meanwhile and recovers", async () => {
    await relay.shut();
    await eventually(async () => expect(await readiness()).to.deep.equal(WITHOUT_QUEUE));
    await runsOnce();
    await relay.reopen();
    await eventually(async () => expect(await readiness()).to.deep.equal(READY));
    await runsOnce();
  });

  it("accepts and runs jobs while the broker hangs; /readyz is degraded meanwhile", async () => {
    relay.freeze();
    await runsOnce();
    expect(await readiness()).to.deep.equal(WITHOUT_QUEUE);
    relay.thaw();
    await eventually(async () => expect(await readiness()).to.deep.equal(READY));
  });

  it("runs jobs while its queue is deleted, logs it, and is ready once the queue is recreated", async () => {
    await space.onServer((channel) => channel.deleteQueue(space.queueOf("scripted")));
    await eventually(async () => expect(await readiness()).to.deep.equal(WITHOUT_QUEUE));
    await runsOnce();
    await eventually(async () => expect(await readiness()).to.deep.equal(READY));
    await runsOnce();
  });

  it("runs jobs whose notifications are lost", async () => {
    const stolen: string[] = [];
    await space.onServer(async (channel) => {
      const steal = (message: ConsumeMessage | null): void => void stolen.push(message?.content.toString() ?? "");
      // The broker passes it every notification first.
      await channel.consume(space.queueOf("scripted"), steal, { noAck: true, arguments: { "x-priority": 10 } });
      await runsOnce();
    });
    expect(stolen).to.have.length(1);
    expect(await readiness()).to.deep.equal(READY);
  });

  it("runs a job once, however often its notification arrives and whatever else is in the queue", async () => {
    const { notify }: JobQueue = queue;
    queue.notify = (notifications) => {
      for (let times = 0; times < 5; times += 1) notify.call(queue, [...notifications, aNotification("scripted")]);
    };
    await Promise.all(Array.from({ length: 20 }, () => caller.api.generate()));
    await eventually(() => expect(test.provider.submissions).to.have.length(20));
    await runsOnce();
    expect(new Set(test.provider.submissions.map(({ jobId }) => jobId)).size).to.equal(21);
    expect(test.provider.submissions).to.have.length(21);
  });
});
