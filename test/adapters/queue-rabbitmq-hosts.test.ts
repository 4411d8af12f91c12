import { expect } from "chai";
import { checkRabbitmq } from "../../adapters/queue/rabbitmq/doctor.js";
import { RabbitmqJobQueue } from "../../adapters/queue/rabbitmq/job-queue.js";
import type { JobNotification } from "../../core/ports/job-queue.js";
import { aNotification } from "../support/builders.js";
import { RecordingLogger } from "../support/doubles/recording-logger.js";
import { eventually, openQueueSpace, openRelay, type QueueSpace, type Relay } from "../support/rabbitmq.js";
import { freePort } from "../support/services.js";

/** Ways to one broker stand for the nodes of a cluster. */
describe("RabbitmqJobQueue with several hosts", function () {
  this.timeout(60_000);

  let space: QueueSpace;
  let relays: [Relay, Relay];
  let queue: RabbitmqJobQueue;
  let received: JobNotification[];

  beforeEach(async () => {
    space = await openQueueSpace();
    relays = [await openRelay(), await openRelay()];
    received = [];
  });

  afterEach(async () => {
    await queue.close();
    await space.clear("synth");
    await Promise.all(relays.map((relay) => relay.close()));
  });

  async function open(...addresses: readonly string[]): Promise<void> {
    queue = await RabbitmqJobQueue.open({ url: space.through(addresses.join(",")), logger: new RecordingLogger() });
    await queue.listen("synth", async (notification) => void received.push(notification));
  }

  /** Notifies until the listener is called: what is sent meanwhile may be lost. */
  async function reaches(): Promise<void> {
    const notification = aNotification();
    await eventually(() => {
      queue.notify([notification]);
      expect(received.map(({ jobId }) => jobId)).to.include(notification.jobId);
    });
  }

  it("uses the first that can be reached", async () => {
    await open(`127.0.0.1:${await freePort()}`, relays[0].address, relays[1].address);
    await reaches();
    await eventually(() => queue.check());
    expect([relays[0].connections > 0, relays[1].connections]).to.deep.equal([true, 0]);
  });

  it("goes on at the next one when the connection is lost, and from the last to the first", async () => {
    const [first, second] = relays;
    await open(first.address, second.address);
    await reaches();
    expect(second.connections).to.equal(0);
    await first.shut();
    await reaches();
    await eventually(() => queue.check());
    expect(second.connections).to.equal(2);
    await first.reopen();
    await second.shut();
    await reaches();
    await eventually(() => queue.check());
  });

  it("names all of them, and no credentials, while none can be reached", async () => {
    const places = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`];
    await open(...places);
    const error = await queue.check().then(
      () => null,
      (reason: Error) => reason,
    );
    expect(error?.message)
      .to.match(/^RabbitMQ at .*ECONNREFUSED/)
      .and.include(places.join(", "));
    expect(error?.message).not.to.include("guest");
  });

  it("is checked by doctor, which names the host in use and why another is not", async () => {
    await open(relays[0].address);
    const away = `127.0.0.1:${await freePort()}`;
    const checksOf = async (...addresses: string[]): Promise<string[]> => {
      const url = space.through(addresses.join(","));
      const checks = await checkRabbitmq({ url, providerIds: [], fetch });
      return checks
        .filter(({ name }) => /^rabbitmq (host|connection)/.test(name))
        .map(({ name, result, message }) => `${name}: ${result}: ${message}`);
    };
    const [first, second] = relays.map(({ address }) => address) as [string, string];
    const checks = await checksOf(away, first, second);
    expect(checks.slice(0, 3)).to.deep.equal([
      `rabbitmq host ${away}: warning: Not used: ${away} cannot be used: connect ECONNREFUSED ${away}.`,
      `rabbitmq host ${first}: ok: Used: it is the first that lets us in.`,
      `rabbitmq host ${second}: ok: Not used: ${first} comes before it.`,
    ]);
    expect(checks[3]).to.match(/^rabbitmq connection: ok: /);
    const other = `127.0.0.1:${await freePort()}`;
    expect((await checksOf(away, other)).at(-1)).to.equal(
      `rabbitmq connection: failed: None of ${away}, ${other} can be used.`,
    );
  });
});
