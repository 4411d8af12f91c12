import type { Options } from "amqplib";
import { expect } from "chai";
import { checkRabbitmq } from "../../adapters/queue/rabbitmq/doctor.js";
import type { CheckResult } from "../../core/ports/self-check.js";
import {
  eventually,
  makePrivateBroker,
  openQueueSpace,
  type PrivateBroker,
  type QueueSpace,
} from "../support/rabbitmq.js";
import { freePort } from "../support/services.js";

describe("The doctor's checks of RabbitMQ", function () {
  this.timeout(120_000);

  let broker: PrivateBroker;
  let managementUrl: string;
  let space: QueueSpace;
  before(async () => {
    const port = await freePort();
    managementUrl = `http://127.0.0.1:${port}`;
    broker = await makePrivateBroker({
      plugins: ["rabbitmq_management"],
      settings: [`management.tcp.port = ${port}`, "management.tcp.ip = 127.0.0.1", "collect_statistics_interval = 500"],
    });
    await broker.start();
    // How often queues report to the management API; 5 s by default.
    await broker.control("eval", "application:set_env(rabbit, quorum_tick_interval, 500).");
    await broker.control("add_user", "narrow", "sesame");
  });
  after(() => broker.remove());
  beforeEach(async () => {
    space = await openQueueSpace(broker.server);
  });
  afterEach(() => space.clear("one", "two"));

  const check = (url = space.url): Promise<readonly CheckResult[]> =>
    checkRabbitmq({ url, providerIds: ["one", "two"], managementUrl, fetch });

  /** The problems that the check reports. */
  async function wrong(url?: string): Promise<readonly CheckResult[]> {
    return (await check(url)).filter(({ result }) => result !== "ok");
  }

  const asNarrow = (): string => space.url.replace("guest:guest", "narrow:sesame");

  /** Runs the commands between backticks, as an operator would. */
  async function applyFix({ fix }: CheckResult): Promise<void> {
    const commands = [...(fix ?? "").matchAll(/`rabbitmqctl ([^`]+)`/g)].map(([, command]) => command as string);
    expect(commands, String(fix)).to.not.be.empty;
    for (const command of commands)
      await broker.control(...command.split(" ").map((word) => word.replace(/^'(.*)'$/, "$1")));
  }

  it("pass for an empty broker, create the topology of a start, and name the broker's version", async () => {
    expect(await wrong()).to.deep.equal([]);
    expect((await check()).map(({ name }) => name)).to.deep.equal([
      "rabbitmq connection",
      "rabbitmq version",
      "rabbitmq exchanges",
      `rabbitmq queue ${space.queueOf("one")}`,
      `rabbitmq queue ${space.queueOf("two")}`,
      "rabbitmq alarms",
      "rabbitmq policies",
    ]);
    expect((await check())[1]?.message).to.match(/^The broker is RabbitMQ \d+\.\d+/);
  });

  it("leave no notification, no consumer and no dead letter, and take no waiting notification", async () => {
    await check();
    await space.onServer(async (channel) => {
      channel.publish(space.jobs, "one", Buffer.from("a notification"));
      // Responds after the message was sent.
      await channel.checkQueue(space.queueOf("one"));
    });
    await eventually(async () =>
      expect((await check()).find(({ name }) => name.endsWith(".one"))?.message).to.include("1 notification waiting"),
    );
    await space.onServer(async (channel) => {
      expect(await channel.checkQueue(space.queueOf("two"))).to.include({ messageCount: 0, consumerCount: 0 });
      expect(await channel.checkQueue(space.dead)).to.include({ messageCount: 0, consumerCount: 0 });
      const waiting = await channel.get(space.queueOf("one"), { noAck: true });
      expect(waiting).to.have.nested.property("fields.redelivered", false);
    });
  });

  const ours: Options.AssertQueue = { durable: true, maxLength: 100_000 };
  const quorum = { "x-queue-type": "quorum", "x-overflow": "reject-publish" };
  for (const [what, options, says] of [
    ["a classic queue", { durable: true }, /differs/],
    [
      "a queue of another delivery limit",
      { ...ours, arguments: { ...quorum, "x-delivery-limit": 3 } },
      /x-d[a-z-]+ differs/,
    ],
    [
      "a queue without dead letters",
      { ...ours, arguments: { ...quorum, "x-delivery-limit": 10 } },
      /x-dead-letter-exchange differs/,
    ],
  ] as const) {
    it(`report ${what}, and pass after the proposed deletion`, async () => {
      const queue = space.queueOf("two");
      await space.onServer((channel) => channel.assertQueue(queue, options));
      const [found, ...others] = await wrong();
      expect(found).to.include({ name: `rabbitmq queue ${queue}`, result: "failed" });
      expect(found?.message).to.match(says).and.include(queue);
      expect(others).to.deep.equal([]);
      await applyFix(found as CheckResult);
      expect(await wrong()).to.deep.equal([]);
    });
  }

  it("report an exchange of another type, and how to delete it", async () => {
    await space.onServer((channel) => channel.assertExchange(space.dead, "topic"));
    const [found, ...others] = await wrong();
    expect(found).to.include({ name: "rabbitmq exchanges", result: "failed" });
    expect(found?.message).to.include(`${space.dead}: type differs, received 'fanout' but current is 'topic'`);
    expect(found?.fix).to.include(`rabbitmqadmin --vhost=/ delete exchange name=${space.dead}`);
    expect(others).to.deep.equal([]);
  });

  it("report each missing permission of a user, with a command that grants them all", async () => {
    await check();
    await broker.control("clear_permissions", "narrow");
    const [admission] = await wrong(asNarrow());
    expect(admission).to.include({ name: "rabbitmq connection", result: "failed" });
    expect(admission?.message).to.include('the vhost "/"');
    let last: CheckResult | undefined;
    for (const [configure, write, read, name] of [
      ["^$", ".*", ".*", "rabbitmq exchanges"],
      [".*", "^$", ".*", "rabbitmq exchanges"],
      [".*", ".*", "jobs$|dead$", `rabbitmq queue ${space.queueOf("one")}`],
    ] as const) {
      await broker.control("set_permissions", "narrow", configure, write, read);
      const [found] = await wrong(asNarrow());
      expect(found, name).to.include({ name, result: "failed" });
      expect(found?.message).to.include("ACCESS_REFUSED").and.not.include("sesame");
      last = found;
    }
    await applyFix(last as CheckResult);
    expect(await wrong(asNarrow())).to.deep.equal([]);
  });

  it("report a missing vhost, a missing user or an unreachable broker", async () => {
    const elsewhere = asNarrow().replace("?", "/elsewhere?");
    const [vhost] = await wrong(elsewhere);
    expect(vhost?.message).to.include('the vhost "elsewhere"');
    await applyFix(vhost as CheckResult);
    expect(await wrong(elsewhere)).to.deep.equal([]);

    const [user] = await wrong(space.url.replace("guest:guest", "stranger:sesame"));
    expect(user).to.include({ name: "rabbitmq connection", result: "failed" });
    expect(user?.fix).to.include("rabbitmqctl add_user stranger");

    const [broken] = await wrong(`amqp://127.0.0.1:${await freePort()}`);
    expect(broken?.message).to.include("ECONNREFUSED");
    expect(broken?.fix).to.include("queue.url");

    const [misspelt] = await wrong(`${broker.server}?prefx=x`);
    expect(misspelt?.message).to.include('no parameter "prefx"');
  });

  it("report that the broker blocks publishers, and why", async () => {
    await broker.control("set_vm_memory_high_watermark", "0.0000001");
    try {
      // The broker raises its alarm at its next memory check.
      await eventually(async () => {
        const [found] = await wrong();
        expect(found).to.include({ name: "rabbitmq alarms", result: "failed" });
        expect(found?.message).to.include("low on memory");
        expect(found?.fix).to.include("rabbitmq-diagnostics alarms");
      });
    } finally {
      await broker.control("set_vm_memory_high_watermark", "0.4");
    }
    await eventually(async () => expect(await wrong()).to.deep.equal([]));
  });

  it("report policies that override the queue arguments, and pass after they are cleared as proposed", async () => {
    await check();
    await broker.control("set_policy", "rule", `^${space.jobs}`, '{"delivery-limit":2}', "--apply-to", "queues");
    await broker.control(
      "set_operator_policy",
      "house-rule",
      `^${space.jobs}`,
      '{"message-ttl":60000}',
      "--apply-to",
      "queues",
    );
    let found: CheckResult | undefined;
    // The management API is updated a little later.
    await eventually(async () => {
      found = (await wrong())[0];
      expect(found).to.include({ name: "rabbitmq policies", result: "warning" });
      for (const id of ["one", "two"]) expect(found?.message).to.include(`${space.queueOf(id)}: `);
      expect(found?.message.match(/delivery-limit 2 /g), found?.message).to.have.lengthOf(2);
      expect(found?.message.match(/message-ttl 60000 /g), found?.message).to.have.lengthOf(2);
    });
    await applyFix(found as CheckResult);
    await eventually(async () => expect(await wrong()).to.deep.equal([]));
  });

  it("name where to read the policies when the management API does not return them", async () => {
    const results = await checkRabbitmq({
      url: space.url,
      providerIds: ["one"],
      managementUrl: `http://127.0.0.1:${await freePort()}`,
      fetch,
    });
    const found = results.find(({ name }) => name === "rabbitmq policies");
    expect(found).to.include({ result: "ok" });
    expect(found?.message)
      .to.include("ECONNREFUSED")
      .and.include("rabbitmqctl list_queues -p / name effective_policy_definition");
  });
});
