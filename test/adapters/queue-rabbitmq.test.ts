import type { Message } from "amqplib";
import { expect } from "chai";
import {
  DELIVERY_LIMIT,
  RabbitmqJobQueue,
  type RabbitmqJobQueueOptions,
} from "../../adapters/queue/rabbitmq/job-queue.js";
import { declareQueue } from "../../adapters/queue/rabbitmq/topology.js";
import type { JobNotification } from "../../core/ports/job-queue.js";
import { jobQueueContract } from "../contract/job-queue.contract.js";
import { aNotification } from "../support/builders.js";
import { RecordingLogger } from "../support/doubles/recording-logger.js";
import {
  eventually,
  openQueueSpace,
  openRelay,
  type QueueSpace,
  RABBITMQ_SERVER,
  refusal,
  type Relay,
  selfSigned,
} from "../support/rabbitmq.js";
import { freePort } from "../support/services.js";

const used: QueueSpace[] = [];

async function aSpace(): Promise<QueueSpace> {
  const space = await openQueueSpace();
  used.push(space);
  return space;
}

after("deletes what the tests have declared", async () => {
  for (const space of used.splice(0)) await space.clear("synth", "mureka", "unheard");
});

jobQueueContract("RabbitmqJobQueue", async () =>
  RabbitmqJobQueue.open({ url: (await aSpace()).url, logger: new RecordingLogger() }),
);

/** How many sockets or timers keep this process alive. */
function held(kind: "TCPSocketWrap" | "Timeout"): number {
  return process.getActiveResourcesInfo().filter((name) => name === kind).length;
}

describe("RabbitmqJobQueue", function () {
  // Heartbeats, and the waits before a queue is declared again, take seconds.
  this.timeout(60_000);

  let space: QueueSpace;
  let logger: RecordingLogger;
  let open: RabbitmqJobQueue[];
  let relays: Relay[];

  beforeEach(async () => {
    space = await aSpace();
    logger = new RecordingLogger();
    open = [];
    relays = [];
  });

  afterEach(async () => {
    await Promise.all(open.map((queue) => queue.close()));
    await Promise.all(relays.map((relay) => relay.close()));
  });

  async function aQueue(options: Partial<RabbitmqJobQueueOptions> = {}): Promise<RabbitmqJobQueue> {
    const queue = await RabbitmqJobQueue.open({ url: space.url, logger, ...options });
    open.push(queue);
    return queue;
  }

  async function aRelay(...tls: Parameters<typeof openRelay>): Promise<Relay> {
    const relay = await openRelay(...tls);
    relays.push(relay);
    return relay;
  }

  /** Notifies until a listener is called: a notification that is sent during an outage may be lost. */
  async function reaches(from: RabbitmqJobQueue, received: readonly JobNotification[]): Promise<void> {
    const notification = aNotification();
    await eventually(() => {
      from.notify([notification]);
      expect(received.map(({ jobId }) => jobId)).to.include(notification.jobId);
    });
  }

  const waiting = (queue: string): Promise<number> =>
    space.onServer(async (channel) => (await channel.checkQueue(queue)).messageCount);

  /**
   * Resolves when the exchange passes messages on to the queue of this provider, which exists a moment before its
   * binding.
   */
  const isBound = (providerId: string): Promise<void> =>
    space.onServer(async (channel) => {
      await eventually(async () => {
        channel.publish(space.jobs, providerId, Buffer.from("a probe"));
        await channel.checkExchange(space.jobs);
        const probe = await channel.get(space.queueOf(providerId), { noAck: true });
        expect(probe).to.not.equal(false);
      });
      await eventually(async () => {
        await channel.purgeQueue(space.queueOf(providerId));
        expect((await channel.checkQueue(space.queueOf(providerId))).messageCount).to.equal(0);
      });
    });

  const linesLike = (message: RegExp): RecordingLogger["lines"] =>
    logger.lines.filter((line) => message.test(line.message));

  async function deadLetters(count: number): Promise<Message[]> {
    const letters: Message[] = [];
    await eventually(() =>
      space.onServer(async (channel) => {
        for (let letter = await channel.get(space.dead, { noAck: true }); letter !== false;) {
          letters.push(letter);
          letter = await channel.get(space.dead, { noAck: true });
        }
        expect(letters).to.have.length(count);
      }),
    );
    return letters;
  }

  describe("messages", () => {
    it("carry ids only, and survive a restart of the broker", async () => {
      const queue = await aQueue();
      const notification = aNotification();
      await space.onServer(async (channel) => {
        await declareQueue(channel, space, "synth");
        queue.notify([notification]);
        await eventually(() => expect(queue.counts.confirmed).to.equal(1));
      });
      const message = await space.onServer((channel) => channel.get(space.queueOf("synth"), { noAck: true }));
      if (message === false) throw new Error("There is no message.");
      expect(JSON.parse(message.content.toString())).to.deep.equal({
        job_id: notification.jobId,
        provider_id: "synth",
      });
      expect(message.properties).to.include({ deliveryMode: 2, contentType: "application/json" });
    });

    it("stay the broker's until the listener's promise resolves", async () => {
      const first = await aQueue();
      const notification = aNotification();
      const began = new Promise<void>((resolve) => {
        void first.listen("synth", () => {
          resolve();
          return new Promise<void>(() => undefined);
        });
      });
      await eventually(() => waiting(space.queueOf("synth")));
      first.notify([notification]);
      await began;
      await first.close();
      const second = await aQueue();
      const received: JobNotification[] = [];
      await second.listen("synth", async (again) => void received.push(again));
      await eventually(() => expect(received).to.deep.equal([notification]));
      await second.close();
      const third = await aQueue({ prefetch: 1 });
      await third.listen("synth", async (again) => void received.push(again));
      const next = aNotification();
      third.notify([next]);
      await eventually(() => expect(received).to.deep.equal([notification, next]));
    });

    it("are given to a listener up to the prefetch at once", async () => {
      const queue = await aQueue({ prefetch: 3 });
      const finish: (() => void)[] = [];
      await queue.listen("synth", () => new Promise<void>((resolve) => finish.push(resolve)));
      queue.notify(Array.from({ length: 10 }, () => aNotification()));
      await eventually(async () =>
        expect([finish.length, await waiting(space.queueOf("synth"))]).to.deep.equal([3, 7]),
      );
      finish[0]?.();
      await eventually(() => expect(finish).to.have.length(4));
      await eventually(() => {
        for (const done of finish) done();
        expect(finish).to.have.length(10);
      });
    });

    it("come again when the listener fails, and are dead letters after the delivery limit", async () => {
      const queue = await aQueue();
      const notification = aNotification();
      let times = 0;
      await queue.listen("synth", async () => {
        times += 1;
        throw new Error("the storage is away");
      });
      queue.notify([notification]);
      const [letter] = await deadLetters(1);
      expect(times).to.equal(DELIVERY_LIMIT + 1);
      expect(JSON.parse(letter?.content.toString() ?? "")).to.have.property("job_id", notification.jobId);
      expect(letter?.properties.headers?.["x-death"]?.[0]).to.include({
        reason: "delivery_limit",
        queue: space.queueOf("synth"),
      });
      const [line] = linesLike(/listener of the job queue failed/);
      expect(line?.fields).to.include(notification).and.have.nested.property("error.message", "the storage is away");
    });

    it("that are not notifications of the provider are dead letters at once", async () => {
      const queue = await aQueue();
      const received: JobNotification[] = [];
      await queue.listen("synth", (notification) => void received.push(notification));
      // On a busy broker the queue may not be bound yet, and what is published before is lost.
      await reaches(queue, received);
      const wrong = [
        "",
        "{",
        "null",
        "[]",
        '{"job_id":7,"provider_id":"synth"}',
        '{"job_id":"job_1","provider_id":"synth"}',
        JSON.stringify({ job_id: aNotification().jobId, provider_id: "mureka" }),
      ];
      await space.onServer(async (channel) => {
        for (const text of wrong) channel.publish(space.jobs, "synth", Buffer.from(text));
        // amqplib's close would overtake them.
        await channel.checkExchange(space.jobs);
      });
      await reaches(queue, received);
      const letters = await deadLetters(wrong.length);
      expect(letters.map(({ content }) => content.toString())).to.have.members(wrong);
      expect(letters[0]?.properties.headers?.["x-death"]?.[0]).to.include({ reason: "rejected" });
      expect(new Set(received.map(({ providerId }) => providerId))).to.deep.equal(new Set(["synth"]));
    });

    it("are received by one of several processes", async () => {
      const received: JobNotification[] = [];
      const [one, other] = [await aQueue(), await aQueue()];
      for (const queue of [one, other]) await queue.listen("synth", (notification) => void received.push(notification));
      const notifications = Array.from({ length: 50 }, () => aNotification());
      one.notify(notifications);
      await eventually(() => expect(received).to.have.deep.members(notifications));
    });

    it("pass by the thousand, none lost", async () => {
      const queue = await aQueue();
      const received = new Set<string>();
      await queue.listen("synth", async ({ jobId }) => void received.add(jobId));
      queue.notify(Array.from({ length: 5_000 }, () => aNotification()));
      await eventually(() => expect(received.size).to.equal(5_000));
      await eventually(() => expect(queue.counts).to.deep.equal({ confirmed: 5_000, unroutable: 0, dropped: 0 }));
    });
  });

  describe("what cannot be sent", () => {
    it("is dropped beyond the bound of unconfirmed messages, counted and logged once", async () => {
      const queue = await aQueue({ unconfirmedMax: 10 });
      queue.notify(Array.from({ length: 30 }, () => aNotification()));
      queue.notify(Array.from({ length: 20 }, () => aNotification()));
      await eventually(() => expect(queue.counts).to.include({ confirmed: 10, dropped: 40 }));
      expect(linesLike(/Notifications are dropped/)).to.have.length(1);
      expect(linesLike(/Notifications reach RabbitMQ again/).map(({ fields }) => fields)).to.deep.equal([
        { dropped: 40 },
      ]);
    });

    it("is dropped while the broker is unavailable; later notifications are sent when it is back", async () => {
      const relay = await aRelay();
      const queue = await aQueue({ url: space.through(relay.address) });
      const received: JobNotification[] = [];
      await queue.listen("synth", (notification) => void received.push(notification));
      await reaches(queue, received);
      await relay.shut();
      expect((await refusal(() => queue.check())).message).to.match(
        /^RabbitMQ at 127\.0\.0\.1:\d+ cannot be reached: /,
      );
      const before = queue.counts.dropped;
      queue.notify(Array.from({ length: 1_000 }, () => aNotification()));
      queue.notify([aNotification()]);
      expect(queue.counts.dropped - before).to.equal(1_001);
      expect(linesLike(/Notifications are dropped/)).to.have.length(1);
      await relay.reopen();
      await eventually(() => queue.check());
      await reaches(queue, received);
      await eventually(() => expect(linesLike(/Notifications reach RabbitMQ again/)).to.have.length(1));
    });

    it("is counted and reported when no queue takes it; the queue is declared for the next notifications", async () => {
      const queue = await aQueue();
      queue.notify([aNotification("unheard")]);
      const error = await refusal(() => queue.check());
      expect(error.message).to.equal(
        `RabbitMQ has no queue ${space.queueOf("unheard")}, or it is not bound to ${space.jobs}.`,
      );
      expect(queue.counts).to.deep.equal({ confirmed: 1, unroutable: 1, dropped: 0 });
      await eventually(() => queue.check());
      queue.notify([aNotification("unheard")]);
      await eventually(async () => expect(await waiting(space.queueOf("unheard"))).to.equal(1));
      expect(queue.counts.unroutable).to.equal(1);
    });
  });

  describe("a broker that hangs", () => {
    it("fails the check, loses the channel with late confirms, and delays closing only briefly", async () => {
      const relay = await aRelay();
      const timers = held("Timeout");
      const queue = await aQueue({ url: space.through(relay.address), confirmMaxMs: 300 });
      await queue.listen("synth", () => undefined);
      const sockets = held("TCPSocketWrap");
      expect(held("Timeout")).to.be.above(timers);
      relay.freeze();
      expect((await refusal(() => queue.check())).message).to.match(
        /^RabbitMQ at \S+ has not responded for 2000 ms\.$/,
      );
      queue.notify([aNotification()]);
      await eventually(async () => {
        expect((await refusal(() => queue.check())).message).to.equal(
          "RabbitMQ has not confirmed a message for 300 ms.",
        );
      });
      queue.notify([aNotification()]);
      expect(queue.counts.dropped).to.equal(1);
      await queue.close();
      // The relay's sockets are still open; the queue's own two no longer keep the process alive.
      await eventually(() => {
        expect(held("TCPSocketWrap")).to.equal(sockets - 2);
        expect(held("Timeout")).to.be.at.most(timers);
      });
    });

    it("counts as unavailable after two heartbeats, and is reached again", async () => {
      const relay = await aRelay();
      const queue = await aQueue({ url: `${space.through(relay.address)}&heartbeat=1` });
      const received: JobNotification[] = [];
      await queue.listen("synth", (notification) => void received.push(notification));
      relay.freeze();
      await eventually(() =>
        expect(linesLike(/RabbitMQ cannot be reached/).map(({ fields }) => fields["reason"])).to.include(
          "Heartbeat timeout",
        ),
      );
      relay.cut();
      relay.thaw();
      await eventually(() => queue.check());
      await reaches(queue, received);
    });

    it("may be one that never responded", async () => {
      const relay = await aRelay();
      relay.freeze();
      const queue = await aQueue({ url: space.through(relay.address) });
      expect((await refusal(() => queue.check())).message).to.contain("it has not responded yet");
      queue.notify([aNotification()]);
      await queue.close();
    });
  });

  describe("a connection that ends", () => {
    it("is opened again with its consumers, many times, and leaves no listeners behind", async () => {
      const warnings: Error[] = [];
      const onWarning = (warning: Error): void => void warnings.push(warning);
      process.on("warning", onWarning);
      const relay = await aRelay();
      const queue = await aQueue({ url: space.through(relay.address) });
      const received: JobNotification[] = [];
      await queue.listen("synth", (notification) => void received.push(notification));
      for (let times = 0; times < 12; times += 1) {
        const { connections } = relay;
        relay.cut();
        await eventually(() => expect(relay.connections).to.equal(connections + 2));
        await eventually(() => queue.check());
      }
      await reaches(queue, received);
      process.off("warning", onWarning);
      expect(warnings).to.deep.equal([]);
    });

    it("keeps no process alive once the queue is closed, even while the broker is unavailable", async () => {
      const url = `amqp://guest:guest@127.0.0.1:${await freePort()}`;
      const timers = held("Timeout");
      const queue = await aQueue({ url });
      await queue.listen("synth", () => undefined);
      expect(held("Timeout")).to.be.above(timers);
      await queue.close();
      await eventually(() => expect(held("Timeout")).to.be.at.most(timers));
    });
  });

  describe("the topology", () => {
    it("is declared for prepared providers before any listener, and keeps their notifications", async () => {
      const publisher = await aQueue();
      await publisher.prepare(["synth", "mureka"]);
      const notification = aNotification();
      publisher.notify([notification]);
      await eventually(() => expect(publisher.counts).to.deep.equal({ confirmed: 1, unroutable: 0, dropped: 0 }));
      const listening = await aQueue();
      const received: JobNotification[] = [];
      await listening.listen("synth", (again) => void received.push(again));
      await eventually(() => expect(received).to.deep.equal([notification]));
      expect(await waiting(space.queueOf("mureka"))).to.equal(0);
    });

    it("is declared for a process that only notifies on every new connection, the first one included", async () => {
      const relay = await aRelay();
      await relay.shut();
      const queue = await aQueue({ url: space.through(relay.address) });
      await queue.prepare(["unheard"]);
      const isThere = (): Promise<void> =>
        eventually(async () => expect(await waiting(space.queueOf("unheard"))).to.equal(0));
      await relay.reopen();
      await isThere();
      await relay.shut();
      await space.onServer((channel) => channel.deleteQueue(space.queueOf("unheard")));
      await relay.reopen();
      await isThere();
      await isBound("unheard");
      await eventually(() => queue.check());
      queue.notify([aNotification("unheard")]);
      await eventually(async () => expect(await waiting(space.queueOf("unheard"))).to.equal(1));
      expect(queue.counts.unroutable).to.equal(0);
    });

    it("of a provider that differs is reported by the check of a prepared process until it is deleted", async () => {
      const name = space.queueOf("synth");
      await space.onServer((channel) => channel.assertQueue(name, { arguments: { "x-queue-type": "classic" } }));
      const queue = await aQueue();
      await queue.prepare(["synth", "mureka"]);
      const error = await refusal(() => queue.check());
      expect(error.message).to.contain(`another queue ${name}: x-`);
      expect(logger.lines.filter(({ level }) => level === "error").map(({ fields }) => fields["reason"])).to.deep.equal(
        [error.message],
      );
      queue.notify([aNotification("mureka")]);
      await eventually(async () => expect(await waiting(space.queueOf("mureka"))).to.equal(1));
      await space.onServer((channel) => channel.deleteQueue(name));
      await eventually(() => queue.check());
      queue.notify([aNotification()]);
      await eventually(async () => expect(await waiting(name)).to.equal(1));
    });

    it("is declared again when a queue is deleted while it is consumed", async () => {
      const queue = await aQueue();
      const received: JobNotification[] = [];
      await queue.listen("synth", (notification) => void received.push(notification));
      await space.onServer((channel) => channel.deleteQueue(space.queueOf("synth")));
      await reaches(queue, received);
      await eventually(() => queue.check());
    });

    it("is declared again when everything is deleted", async () => {
      const queue = await aQueue();
      const received: JobNotification[] = [];
      await queue.listen("synth", (notification) => void received.push(notification));
      await space.clear("synth");
      await reaches(queue, received);
      await eventually(() => queue.check());
    });

    it("is left alone where it differs, and both log and check name the queue and the argument", async () => {
      const name = space.queueOf("synth");
      await space.onServer((channel) =>
        channel.assertQueue(name, { arguments: { "x-queue-type": "quorum", "x-delivery-limit": 3 } }),
      );
      const queue = await aQueue();
      const received: JobNotification[] = [];
      await queue.listen("synth", (notification) => void received.push(notification));
      await queue.listen("mureka", (notification) => void received.push(notification));
      const error = await refusal(() => queue.check());
      expect(error.message)
        .to.contain(`another queue ${name}: x-`)
        .and.contain("but current is")
        .and.contain("Delete it");
      const lines = logger.lines.filter(({ level }) => level === "error");
      expect(lines.map(({ fields }) => fields["reason"])).to.deep.equal([error.message]);
      const other = aNotification("mureka");
      queue.notify([other]);
      await eventually(() => expect(received).to.deep.equal([other]));
      await space.onServer((channel) => channel.deleteQueue(name));
      await eventually(() => queue.check());
      await reaches(queue, received);
    });

    it("of an older version that has no binding is reported by the check of a process that only notifies", async () => {
      const name = space.queueOf("synth");
      await space.onServer((channel) => channel.assertQueue(name, { arguments: { "x-queue-type": "classic" } }));
      const queue = await aQueue();
      queue.notify([aNotification()]);
      await eventually(async () => {
        expect((await refusal(() => queue.check())).message).to.contain(`another queue ${name}: x-`);
      });
    });
  });

  describe("the URL", () => {
    const { username, password, host } = new URL(RABBITMQ_SERVER);

    it("keeps its credentials out of logs and errors", async () => {
      const queue = await aQueue({ url: `amqp://${username}:not-the-p%40ssword@${host}` });
      queue.notify([aNotification()]);
      const error = await refusal(() => queue.check());
      expect(error.message).to.contain("ACCESS_REFUSED").and.not.contain("ssword");
      expect(JSON.stringify(logger.lines)).to.contain("ACCESS_REFUSED").and.not.contain("ssword");
    });

    it("may name a vhost; one that is missing is reported", async () => {
      const queue = await aQueue({ url: `amqp://${username}:${password}@${host}/no%2Fsuch` });
      expect((await refusal(() => queue.check())).message)
        .to.contain("vhost")
        .and.contain("such")
        .and.not.contain(`'${username}'`);
    });

    it("is refused in any other form, without repeating it", async () => {
      const wrong = [
        "amqp:",
        "http://user:sesame@host",
        "amqp//user:sesame@host",
        "amqp://user:sesame%@host",
        "amqp://user:sesame@host?heartbeat=0",
        "amqp://host?prefix=a/b",
        "amqp://user:sesame@host?locale=de",
      ];
      for (const url of wrong) {
        const error = await RabbitmqJobQueue.open({ url, logger }).then(
          () => null,
          (refused: Error) => refused,
        );
        expect(error?.message, url).to.contain("URL of the queue").and.not.contain("sesame");
      }
    });

    it("reaches a broker by TLS, if its certificate is trusted", async () => {
      const pair = await selfSigned();
      const relay = await aRelay(pair);
      const url = space.through(relay.address).replace("amqp:", "amqps:");
      const trusting = await aQueue({ url, tls: { ca: pair.cert } });
      const received: JobNotification[] = [];
      await trusting.listen("synth", (notification) => void received.push(notification));
      await trusting.check();
      await reaches(trusting, received);
      const wary = await aQueue({ url });
      expect((await refusal(() => wary.check())).message).to.contain("self-signed certificate");
    });
  });
});
