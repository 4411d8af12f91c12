import { createServer } from "node:net";
import { createClient } from "@redis/client";
import { expect } from "chai";
import type { AdapterHost } from "../../../core/ports/adapter.js";
import type { JobNotification, JobQueue } from "../../../core/ports/job-queue.js";
import { aNotification } from "../../support/builders.js";
import { TEST_PORTS } from "../../support/databases.js";
import { RecordingLogger } from "../../support/doubles/recording-logger.js";
import { type ExampleAdapters, exampleAdapters } from "../../support/example-adapters.js";
import { ended } from "../../support/installed-package.js";
import { eventually } from "../../support/process.js";
import { type PrivateRedis, startPrivateRedis } from "../../support/redis.js";
import { openRelayTo, type Relay } from "../../support/relay.js";
import { freePort } from "../../support/services.js";

const QUEUE = "redis-streams-queue/queue.js";

/** Opens a queue, uses it once and closes it: the process ends when nothing of the queue is left. */
const CLOSES = `
const { default: definition } = await import("./redis-streams-queue/queue.js");
const line = (level) => (message) => console.log(level, message);
const logger = { debug() {}, info: line("info"), warn: line("warn"), error: line("error"), child: () => logger };
const clock = { now: Date.now, sleep: (ms, signal) => new Promise((resolve) => {
  const timer = setTimeout(resolve, ms);
  signal?.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
}) };
const settings = { prefix: "closed", maxLength: 100, abandonedSeconds: 60 };
const queue = await definition.open({ url: process.argv[1], settings, logger, clock });
await queue.listen("synth", () => undefined);
await queue.prepare(["synth"]);
queue.notify([{ jobId: "job_1", providerId: "synth" }]);
await queue.close();
console.log("closed");
`;

/** As much of an older Redis as a check meets. */
async function oldRedis(): Promise<{ readonly url: string; close(): Promise<void> }> {
  const info = "redis_version:6.2.14\r\nmaxmemory:0\r\nmaxmemory_policy:noeviction\r\n";
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.on("data", (bytes) => {
      const commands = [...bytes.toString().matchAll(/\$\d+\r\n(HELLO|CLIENT|INFO)\r\n/g)].map(([, name]) => name);
      for (const name of commands)
        socket.write(name === "HELLO" ? "%0\r\n" : name === "INFO" ? `$${info.length}\r\n${info}\r\n` : "+OK\r\n");
    });
  });
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return { url: `redis://127.0.0.1:${port}`, close: () => new Promise((resolve) => server.close(() => resolve())) };
}

describe("redis-streams-queue, an example of an adapter, with the packed package", function () {
  this.timeout(120_000);
  let app: ExampleAdapters;
  let redis: PrivateRedis;
  let count = 0;
  before(async () => {
    [app, redis] = await Promise.all([exampleAdapters(), startPrivateRedis()]);
  });
  after(() => redis.remove());

  const queues: JobQueue[] = [];
  const relays: Relay[] = [];
  let logger: RecordingLogger;
  let prefix: string;
  beforeEach(() => {
    logger = new RecordingLogger();
    prefix = `test-${(count += 1)}`;
  });
  afterEach(async () => {
    for (const queue of queues.splice(0)) await queue.close();
    for (const relay of relays.splice(0)) await relay.close();
    await redis.kill();
    await redis.start();
  });

  async function aQueue(url = redis.url, settings: AdapterHost["settings"] = {}): Promise<JobQueue> {
    const queue = await app.open<JobQueue>(QUEUE, url, { prefix, ...settings }, logger);
    queues.push(queue);
    return queue;
  }

  async function aRelay(): Promise<Relay> {
    const relay = await openRelayTo(redis);
    relays.push(relay);
    return relay;
  }

  async function listening(queue: JobQueue): Promise<JobNotification[]> {
    const received: JobNotification[] = [];
    await queue.listen("synth", (notification) => void received.push(notification));
    return received;
  }

  const received = (list: readonly JobNotification[], one: JobNotification): Promise<unknown> =>
    eventually(`${one.jobId} received`, () => list.some(({ jobId }) => jobId === one.jobId));

  const warnings = (): readonly string[] =>
    logger.lines.filter(({ level }) => level === "warn").map(({ message }) => message);

  async function onServer<T>(work: (client: ReturnType<typeof createClient>) => Promise<T>): Promise<T> {
    const client = await createClient({ url: redis.url }).connect();
    try {
      return await work(client as ReturnType<typeof createClient>);
    } finally {
      client.destroy();
    }
  }

  const pending = (): Promise<number> =>
    onServer(async (client) => (await client.xPending(`${prefix}:jobs:synth`, "workers")).pending);

  it("keeps its contract, and leaves nothing open", () =>
    app.contract("redis-streams-queue", { REDIS_URL: `${redis.url}/1` }));

  it("gives each notification to one of several workers", async () => {
    const [one, other] = [await listening(await aQueue()), await listening(await aQueue())];
    const sent = Array.from({ length: 40 }, () => aNotification());
    const sender = await aQueue();
    for (const notification of sent) sender.notify([notification]);
    await eventually("all received", () => one.length + other.length === sent.length);
    expect([...one, ...other]).to.have.deep.members(sent);
  });

  it("keeps notifications until a worker listens, the newest ones where there are many", async () => {
    const sender = await aQueue(redis.url, { maxLength: 100 });
    const sent = Array.from({ length: 1_000 }, () => aNotification());
    sender.notify(sent);
    await eventually("all sent", () => onServer(async (client) => (await client.xLen(`${prefix}:jobs:synth`)) > 99));
    await sender.close();
    const list = await listening(await aQueue());
    await received(list, sent.at(-1) as JobNotification);
    // Redis trims whole nodes of a hundred entries.
    expect(list.length).to.be.within(100, 200);
    expect(list).to.deep.equal(sent.slice(-list.length));
  });

  it("acknowledges when the listener has ended, also when it failed, and logs that", async () => {
    const queue = await aQueue();
    let fail = (_error: Error): void => undefined;
    const called = new Promise<void>((resolve) => {
      void queue.listen("synth", () => {
        resolve();
        return new Promise<void>((_resolve, reject) => (fail = reject));
      });
    });
    const notification = aNotification();
    queue.notify([notification]);
    await called;
    expect(await pending()).to.equal(1);
    fail(new Error("a listener's own error"));
    await eventually("acknowledged", async () => (await pending()) === 0);
    const [line] = logger.lines.filter(({ level }) => level === "error");
    expect(line?.fields).to.include({ jobId: notification.jobId });
  });

  it("gives to another worker what a killed one has read", async () => {
    const notification = aNotification();
    const sender = await aQueue();
    await sender.prepare(["synth"]);
    sender.notify([notification]);
    const stream = { key: `${prefix}:jobs:synth`, id: ">" };
    await eventually("read", () =>
      onServer(async (client) => (await client.xReadGroup("workers", "killed", stream)) !== null),
    );
    await received(await listening(await aQueue(redis.url, { abandonedSeconds: 1 })), notification);
    await eventually("acknowledged", async () => (await pending()) === 0);
  });

  it("goes on after a crash of Redis that lost everything; what was sent meanwhile is one line", async () => {
    const queue = await aQueue();
    const list = await listening(queue);
    const [before, after] = [aNotification(), aNotification()];
    queue.notify([before]);
    await received(list, before);
    await redis.kill();
    await eventually("noticed", () => warnings().length === 1);
    for (let index = 0; index < 20; index += 1) queue.notify([aNotification(), aNotification()]);
    await eventually("dropped", () => warnings().length === 2);
    expect(await queue.check().catch((error: unknown) => error)).to.be.instanceOf(Error);
    await redis.start();
    queue.notify([after]);
    await received(list, after);
    await eventually("well again", () =>
      queue.check().then(
        () => true,
        () => false,
      ),
    );
    const [dropped, ...others] = logger.lines.filter(({ fields }) => fields["dropped"] !== undefined);
    expect([dropped?.fields["dropped"], others, list]).to.deep.equal([40, [], [before, after]]);
    expect(warnings()).to.have.lengthOf(2);
  });

  it("starts to listen while Redis is away", async () => {
    await redis.kill();
    const queue = await aQueue();
    await queue.prepare(["synth"]);
    const list = await listening(queue);
    await redis.start();
    const notification = aNotification();
    queue.notify([notification]);
    await received(list, notification);
  });

  it("reads on over a new connection when one was cut, or hangs", async () => {
    const relay = await aRelay();
    // What Redis writes to a connection that hangs is lost with it, until another read claims it.
    const queue = await aQueue(`redis://${relay.address}`, { abandonedSeconds: 1 });
    const list = await listening(queue);
    for (const fault of [() => relay.cut(), () => relay.strand()]) {
      const [before, after] = [aNotification(), aNotification()];
      queue.notify([before]);
      await received(list, before);
      fault();
      await eventually("responds", () =>
        queue.check().then(
          () => true,
          () => false,
        ),
      );
      queue.notify([after]);
      await received(list, after);
    }
  });

  it("drops notifications while too many wait for a server that hangs, and never throws", async () => {
    const relay = await aRelay();
    const queue = await aQueue(`redis://${relay.address}`);
    await queue.check();
    relay.freeze();
    queue.notify(Array.from({ length: 10_000 }, () => aNotification()));
    expect(warnings()).to.deep.equal([]);
    queue.notify([aNotification()]);
    queue.notify([aNotification()]);
    expect(warnings()).to.have.lengthOf(1);
    relay.thaw();
  });

  for (const [name, fault] of [
    ["is away", (relay: Relay) => relay.shut()],
    ["hangs", (relay: Relay) => relay.freeze()],
  ] as const) {
    it(`closes, and leaves nothing open, while Redis ${name}`, async () => {
      const relay = await aRelay();
      await fault(relay);
      const url = `redis://${relay.address}`;
      const { code, output } = await ended(["--input-type=module", "--eval", CLOSES, url], app.folder);
      expect(code, output).to.equal(0);
      expect(output).to.include("Redis is unavailable").and.to.include("\nclosed\n");
      relay.thaw();
    });
  }

  it("is looked at by doctor: there, and safe from eviction", async () => {
    const { check } = await app.definitionOf(QUEUE);
    const look = async (url: string) =>
      (await check?.({ ...TEST_PORTS, url, settings: {}, logger, dataDir: "/nonexistent", providerIds: [] })) ?? [];
    expect((await look(redis.url)).map(({ result }) => result)).to.deep.equal(["ok", "ok"]);
    const evicting = await startPrivateRedis(["--maxmemory", "64mb", "--maxmemory-policy", "allkeys-lru"]);
    const [there, memory] = await look(evicting.url);
    expect([there?.result, memory?.result]).to.deep.equal(["ok", "warning"]);
    expect(memory?.message).to.include("allkeys-lru");
    await evicting.remove();
    const [away] = await look(evicting.url);
    expect(away).to.include({ result: "failed" }).and.to.have.property("message").that.includes("ECONNREFUSED");
    const old = await oldRedis();
    expect((await look(old.url))[0]).to.include({ result: "failed", message: "Redis 6.2.14 is too old." });
    await old.close();
    const [refused, ...more] = await look(redis.url.replace("//", "//alice:hidden-word@"));
    expect([refused?.result, more]).to.deep.equal(["failed", []]);
    expect(JSON.stringify(refused)).to.include("WRONGPASS").and.not.include("hidden-word");
  });
});
