import type { Message } from "amqplib";
import { expect } from "chai";
import {
  DELIVERY_LIMIT,
  RabbitmqJobQueue,
  type RabbitmqJobQueueOptions,
} from "../../adapters/queue/rabbitmq/job-queue.js";
import { declareQueue } from "../../adapters/queue/rabbitmq/topology.js";
import type { JobNotification } from "../../core/ports/job-queue.js";
import { aNotification, jobQueueContract } from "../contract/job-queue.contract.js";
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
  // Heartbeats, and the pauses before a queue is declared again, take seconds.
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

  /** Publishes until the notification arrives: one that is published during a fault may be lost. */
  async function reaches(from: RabbitmqJobQueue, heard: readonly JobNotification[]): Promise<void> {
    const notification = aNotification();
    await eventually(() => {
      from.notify([notification]);
      expect(heard.map(({ jobId }) => jobId)).to.include(notification.jobId);
    });
  }

  const waiting = (queue: string): Promise<number> =>
    space.onServer(async (channel) => (await channel.checkQueue(queue)).messageCount);

  /** Resolves when the exchange passes messages on to the queue of this provider, which exists a moment before its binding. */
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

    it("stay unacknowledged until the listener's promise resolves", async () => {
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
      const heard: JobNotification[] = [];
      await second.listen("synth", async (again) => void heard.push(again));
      await eventually(() => expect(heard).to.deep.equal([notification]));
      await second.close();
      const third = await aQueue({ prefetch: 1 });
      await third.listen("synth", async (again) => void heard.push(again));
      const next = aNotification();
      third.notify([next]);
      await eventually(() => expect(heard).to.deep.equal([notification, next]));
    });

    it("are passed to a listener up to the prefetch limit", async () => {
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

    it("are redelivered when the listener fails, and dead-lettered after the delivery limit", async () => {
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

    it("that are not notifications of the provider are dead-lettered at once", async () => {
      const queue = await aQueue();
      const heard: JobNotification[] = [];
      await queue.listen("synth", (notification) => void heard.push(notification));
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
        // amqplib's closing frame would arrive first.
        await channel.checkExchange(space.jobs);
      });
      await reaches(queue, heard);
      const letters = await deadLetters(wrong.length);
      expect(letters.map(({ content }) => content.toString())).to.have.members(wrong);
      expect(letters[0]?.properties.headers?.["x-death"]?.[0]).to.include({ reason: "rejected" });
      expect(new Set(heard.map(({ providerId }) => providerId))).to.deep.equal(new Set(["synth"]));
    });

    it("are consumed by one of several processes", async () => {
      const heard: JobNotification[] = [];
      const [one, other] = [await aQueue(), await aQueue()];
      for (const queue of [one, other]) await queue.listen("synth", (notification) => void heard.push(notification));
      const notifications = Array.from({ length: 50 }, () => aNotification());
      one.notify(notifications);
      await eventually(() => expect(heard).to.have.deep.members(notifications));
    });

    it("arrive by the thousand without loss", async () => {
      const queue = await aQueue();
      const heard = new Set<string>();
      await queue.listen("synth", async ({ jobId }) => void heard.add(jobId));
      queue.notify(Array.from({ length: 5_000 }, () => aNotification()));
      await eventually(() => expect(heard.size).to.equal(5_000));
      await eventually(() => expect(queue.counts).to.deep.equal({ confirmed: 5_000, unroutable: 0, dropped: 0 }));
    });
  });

  describe("a notification that cannot be sent", () => {
    it("is dropped beyond the bound of unconfirmed messages, counted and logged once", async () => {
      const queue = await aQueue({ unconfirmedMax: 10 });
      queue.notify(Array.from({ length: 30 }, () => aNotification()));
      queue.notify(Array.from({ length: 20 }, () => aNotification()));
      await eventually(() => expect(queue.counts).to.include({ confirmed: 10, dropped: 40 }));
      expect(linesLike(/Bells are dropped/)).to.have.length(1);
      expect(linesLike(/Bells reach RabbitMQ again/).map(({ fields }) => fields)).to.deep.equal([{ dropped: 40 }]);
    });

    it("is dropped while the broker is down; later notifications are sent when it is back", async () => {
      const relay = await aRelay();
      const queue = await aQueue({ url: space.through(relay.address) });
      const heard: JobNotification[] = [];
      await queue.listen("synth", (notification) => void heard.push(notification));
      await reaches(queue, heard);
      await relay.shut();
      expect((await refusal(() => queue.check())).message).to.match(
        /^RabbitMQ at 127\.0\.0\.1:\d+ cannot be reached: /,
      );
      const before = queue.counts.dropped;
      queue.notify(Array.from({ length: 1_000 }, () => aNotification()));
      queue.notify([aNotification()]);
      expect(queue.counts.dropped - before).to.equal(1_001);
      expect(linesLike(/Bells are dropped/)).to.have.length(1);
      await relay.reopen();
      await eventually(() => queue.check());
      await reaches(queue, heard);
      await eventually(() => expect(linesLike(/Bells reach RabbitMQ again/)).to.have.length(1));
    });

    it("is counted and logged when it is unroutable; the queue is declared for later notifications", async () => {
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

  describe("a hanging broker", () => {
    it("fails the health check, closes the channel with late confirms, and delays closing only briefly", async () => {
      const relay = await aRelay();
      const timers = held("Timeout");
      const queue = await aQueue({ url: space.through(relay.address), confirmMaxMs: 300 });
      await queue.listen("synth", () => undefined);
      const sockets = held("TCPSocketWrap");
      expect(held("Timeout")).to.be.above(timers);
      relay.freeze();
      expect((await refusal(() => queue.check())).message).to.match(/^RabbitMQ at \S+ has not answered for 2000 ms\.$/);
      queue.notify([aNotification()]);
      await eventually(async () => {
        expect((await refusal(() => queue.check())).message).to.equal(
          "RabbitMQ has not confirmed a message for 300 ms.",
        );
      });
      queue.notify([aNotification()]);
      expect(queue.counts.dropped).to.equal(1);
      await queue.close();
      // The relay still holds its sockets; the queue's own two no longer keep the process alive.
      await eventually(() => {
        expect(held("TCPSocketWrap")).to.equal(sockets - 2);
        expect(held("Timeout")).to.be.at.most(timers);
      });
    });

    it("counts as disconnected after two heartbeats, and is reconnected", async () => {
      const relay = await aRelay();
      const queue = await aQueue({ url: `${space.through(relay.address)}&heartbeat=1` });
      const heard: JobNotification[] = [];
      await queue.listen("synth", (notification) => void heard.push(notification));
      relay.freeze();
      await eventually(() =>
        expect(linesLike(/RabbitMQ cannot be reached/).map(({ fields }) => fields["reason"])).to.include(
          "Heartbeat timeout",
        ),
      );
      relay.cut();
      relay.thaw();
      await eventually(() => queue.check());
      await reaches(queue, heard);
    });

    it("may never have responded", async () => {
      const relay = await aRelay();
      relay.freeze();
      const queue = await aQueue({ url: space.through(relay.address) });
      expect((await refusal(() => queue.check())).message).to.contain("it has not answered yet");
      queue.notify([aNotification()]);
      await queue.close();
    });
  });

  describe("a closed connection", () => {
    it("is reopened with its consumers, repeatedly, and leaves no listeners", async () => {
      const warnings: Error[] = [];
      const onWarning = (warning: Error): void => void warnings.push(warning);
      process.on("warning", onWarning);
      const relay = await aRelay();
      const queue = await aQueue({ url: space.through(relay.address) });
      const heard: JobNotification[] = [];
      await queue.listen("synth", (notification) => void heard.push(notification));
      for (let times = 0; times < 12; times += 1) {
        const { connections } = relay;
        relay.cut();
        await eventually(() => expect(relay.connections).to.equal(connections + 2));
        await eventually(() => queue.check());
      }
      await reaches(queue, heard);
      process.off("warning", onWarning);
      expect(warnings).to.deep.equal([]);
    });

    it("does not keep the process alive after the queue is closed, even while the broker is down", async () => {
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
    it("exists before there is a listener, for the prepared providers, and keeps their notifications", async () => {
      const ringing = await aQueue();
      await ringing.prepare(["synth", "mureka"]);
      const notification = aNotification();
      ringing.notify([notification]);
      await eventually(() => expect(ringing.counts).to.deep.equal({ confirmed: 1, unroutable: 0, dropped: 0 }));
      const listening = await aQueue();
      const heard: JobNotification[] = [];
      await listening.listen("synth", (again) => void heard.push(again));
      await eventually(() => expect(heard).to.deep.equal([notification]));
      expect(await waiting(space.queueOf("mureka"))).to.equal(0);
    });

    it("is declared for a publisher on every new connection, the first one included", async () => {
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
      await isBound("nobody");
      await eventually(() => queue.check());
      queue.notify([aNotification("unheard")]);
      await eventually(async () => expect(await waiting(space.queueOf("unheard"))).to.equal(1));
      expect(queue.counts.unroutable).to.equal(0);
    });

    it("that differs for a provider fails the health check of a process prepared for it, until it is deleted", async () => {
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

    it("is declared again when a consumed queue is deleted", async () => {
      const queue = await aQueue();
      const heard: JobNotification[] = [];
      await queue.listen("synth", (notification) => void heard.push(notification));
      await space.onServer((channel) => channel.deleteQueue(space.queueOf("synth")));
      await reaches(queue, heard);
      await eventually(() => queue.check());
    });

    it("is declared again when everything is deleted", async () => {
      const queue = await aQueue();
      const heard: JobNotification[] = [];
      await queue.listen("synth", (notification) => void heard.push(notification));
      await space.clear("synth");
      await reaches(queue, heard);
      await eventually(() => queue.check());
    });

    it("is not changed where it differs; log and health check name the queue and the argument", async () => {
      const name = space.queueOf("synth");
      await space.onServer((channel) =>
        channel.assertQueue(name, { arguments: { "x-queue-type": "quorum", "x-delivery-limit": 3 } }),
      );
      const queue = await aQueue();
      const heard: JobNotification[] = [];
      await queue.listen("synth", (notification) => void heard.push(notification));
      await queue.listen("mureka", (notification) => void heard.push(notification));
      const error = await refusal(() => queue.check());
      expect(error.message)
        .to.contain(`another queue ${name}: x-`)
        .and.contain("but current is")
        .and.contain("Delete it");
      const lines = logger.lines.filter(({ level }) => level === "error");
      expect(lines.map(({ fields }) => fields["reason"])).to.deep.equal([error.message]);
      const other = aNotification("mureka");
      queue.notify([other]);
      await eventually(() => expect(heard).to.deep.equal([other]));
      await space.onServer((channel) => channel.deleteQueue(name));
      await eventually(() => queue.check());
      await reaches(queue, heard);
    });

    it("of an older version without a binding fails the health check of a publisher", async () => {
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

    it("may name a vhost; a missing one is reported", async () => {
      const queue = await aQueue({ url: `amqp://${username}:${password}@${host}/no%2Fsuch` });
      expect((await refusal(() => queue.check())).message)
        .to.contain("vhost")
        .and.contain("such")
        .and.not.contain(`'${username}'`);
    });

    it("is refused in any other form, without echoing it", async () => {
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

    it("connects by TLS if the broker's certificate is trusted", async () => {
      const pair = await selfSigned();
      const relay = await aRelay(pair);
      const url = space.through(relay.address).replace("amqp:", "amqps:");
      const trusting = await aQueue({ url, tls: { ca: pair.cert } });
      const heard: JobNotification[] = [];
      await trusting.listen("synth", (notification) => void heard.push(notification));
      await trusting.check();
      await reaches(trusting, heard);
      const wary = await aQueue({ url });
      expect((await refusal(() => wary.check())).message).to.contain("self-signed certificate");
    });
  });
});
