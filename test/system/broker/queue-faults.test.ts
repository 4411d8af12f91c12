import { expect } from "chai";
import { RabbitmqJobQueue } from "../../../adapters/queue/rabbitmq/job-queue.js";
import type { JobNotification } from "../../../core/ports/job-queue.js";
import { aNotification } from "../../support/builders.js";
import { RecordingLogger } from "../../support/doubles/recording-logger.js";
import {
  eventually,
  makePrivateBroker,
  openQueueSpace,
  type PrivateBroker,
  type QueueSpace,
  refusal,
} from "../../support/rabbitmq.js";

describe("RabbitmqJobQueue and a broker's faults", function () {
  // A broker takes seconds to start.
  this.timeout(90_000);

  let broker: PrivateBroker;
  let space: QueueSpace;
  let queue: RabbitmqJobQueue;
  const logger = new RecordingLogger();
  const heard: JobNotification[] = [];
  const held: JobNotification[] = [];
  let isWell = true;

  before(async () => {
    broker = await makePrivateBroker();
    space = await openQueueSpace(broker.server);
    queue = await RabbitmqJobQueue.open({ url: space.url, logger });
    await queue.listen("synth", (notification) => void heard.push(notification));
    // It listens from the start: RabbitMQ 3.10 may never respond again for a queue that it created just before a kill
    // -9.
    await queue.listen("mureka", async (notification) => {
      held.push(notification);
      if (!isWell) await new Promise(() => undefined);
    });
  });

  after(async () => {
    await queue.close();
    await broker.remove();
  });

  async function works(): Promise<void> {
    await eventually(() => queue.check());
    const notification = aNotification();
    await eventually(() => {
      queue.notify([notification]);
      expect(heard.map(({ jobId }) => jobId)).to.include(notification.jobId);
    });
  }

  it("opens without a broker, and connects when it is up", async () => {
    queue.notify([aNotification()]);
    expect(queue.counts).to.deep.equal({ confirmed: 0, unroutable: 0, dropped: 1 });
    expect((await refusal(() => queue.check())).message).to.match(
      /^RabbitMQ at \S+ cannot be reached: connect ECONNREFUSED/,
    );
    await broker.start();
    await works();
  });

  /** The broker notifies a connection with the first message that comes after it knows that it lacks memory. */
  const publishedOn = (one: RabbitmqJobQueue): Promise<void> => {
    one.notify([aNotification()]);
    return one.check();
  };

  it("publishes nothing while the broker lacks memory and blocks, logs it, and continues afterwards", async () => {
    await broker.control("set_vm_memory_high_watermark", "0.000001");
    const error = await refusal(() => publishedOn(queue));
    expect(error.message).to.match(/^RabbitMQ at \S+ takes no messages: low on memory$/);
    const { dropped } = queue.counts;
    queue.notify([aNotification(), aNotification()]);
    expect(queue.counts.dropped - dropped).to.equal(2);
    await broker.control("set_vm_memory_high_watermark", "0.4");
    await works();
  });

  it("closes at once while the broker blocks publishers", async () => {
    const other = await RabbitmqJobQueue.open({ url: space.url, logger: new RecordingLogger() });
    await broker.control("set_vm_memory_high_watermark", "0.000001");
    await refusal(() => publishedOn(other));
    await other.close();
    await broker.control("set_vm_memory_high_watermark", "0.4");
  });

  it("reconnects after a restart of the broker", async () => {
    await broker.control("stop_app");
    await refusal(() => queue.check());
    await broker.control("start_app");
    await works();
  });

  it("reconnects after kill -9 of the broker; unacknowledged notifications are delivered again", async () => {
    const notification = aNotification("mureka");
    isWell = false;
    queue.notify([notification]);
    await eventually(() => expect(held).to.deep.equal([notification]));
    await broker.kill();
    isWell = true;
    await refusal(() => queue.check());
    expect(() => queue.notify([aNotification()])).not.to.throw();
    await broker.start();
    await works();
    await eventually(() => expect(held).to.deep.equal([notification, notification]));
    expect(logger.lines.filter(({ level }) => level === "error")).to.deep.equal([]);
  });
});
