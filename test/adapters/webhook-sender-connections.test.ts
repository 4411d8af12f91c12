import { expect } from "chai";
import type { Connector } from "../../adapters/webhooks/https/webhook-sender.js";
import type { WebhookResult, WebhookSender } from "../../core/ports/webhook-sender.js";
import { aMessage } from "../support/webhook-builders.js";
import { FaultReceiver } from "../support/fault-receiver/receiver.js";
import { connectorFor, senderFor, withSender } from "./webhook-sender-support.js";

const never = new AbortController().signal;

describe("The connections of HttpsWebhookSender", () => {
  let receiver: FaultReceiver;

  beforeEach(async () => {
    receiver = await FaultReceiver.open();
  });

  afterEach(() => receiver.close());

  const send = (sender: WebhookSender, path: string): Promise<WebhookResult> =>
    sender.send(aMessage({ url: receiver.url(path) }), never);
  const many = (sender: WebhookSender, count: number): Promise<WebhookResult[]> =>
    Promise.all(Array.from({ length: count }, () => send(sender, "/ok")));

  it("are used again for the same origin, whatever was answered, and show no phases of connecting then", async () => {
    await withSender(receiver, {}, async (sender) => {
      const first = await send(sender, "/ok");
      expect(first.phases).to.have.property("tlsMs").that.is.a("number");
      for (const path of ["/500", "/gone", "/redirect", "/interim", "/empty"]) {
        expect((await send(sender, path)).phases, path).to.include({ dnsMs: null, connectMs: null, tlsMs: null });
      }
      expect(receiver.connections.https).to.equal(1);
      await sender.send(aMessage({ url: receiver.url("/ok", { host: "hooks.localhost" }) }), never);
      expect(receiver.connections.https).to.equal(2);
    });
  });

  it("are replaced, within the same try, when the receiver ends one just as it is used again", async () => {
    await withSender(receiver, {}, async (sender) => {
      expect(await send(sender, "/stale")).to.include({ failure: null });
      const second = await send(sender, "/ok");
      expect(second).to.include({ failure: null, status: 200 });
      expect(second.phases).to.have.property("tlsMs").that.is.a("number");
      expect(receiver.requests.map(({ path }) => path)).to.deep.equal(["/stale", "/ok"]);
      expect(receiver.connections.https).to.equal(2);
    });
  });

  it("are timed from the start of the try, also when they come late in it", async () => {
    const instant: Connector = {
      async connect(target) {
        return { ...(await connectorFor(receiver).connect(target)), phases: { dnsMs: 0, connectMs: 0, tlsMs: 0 } };
      },
    };
    await withSender(receiver, { connector: instant }, async (sender) => {
      await send(sender, "/stale");
      const { dnsMs, tlsMs } = (await send(sender, "/ok")).phases;
      expect(dnsMs).to.be.greaterThan(0);
      expect(tlsMs).to.equal(dnsMs);
    });
  });

  it("are replaced when the receiver has ended one while it was idle", async () => {
    await withSender(receiver, {}, async (sender) => {
      await send(sender, "/ok");
      receiver.cut();
      await receiver.quiet();
      expect(await send(sender, "/ok")).to.include({ failure: null, status: 200 });
    });
  });

  it("are not tried a third time", async () => {
    await withSender(receiver, {}, async (sender) => {
      await send(sender, "/stale");
      expect(await send(sender, "/reset")).to.include({ failure: "protocol", status: null });
      expect(receiver.connections.https).to.equal(2);
    });
  });

  for (const path of [
    "/endless",
    "/large",
    "/hang",
    "/slow-headers",
    "/drip",
    "/half-close",
    "/garbage",
    "/many-headers",
  ]) {
    it(`are cut after ${path}, at the receiver too`, async () => {
      await withSender(receiver, { timeoutMs: 300 }, async (sender) => {
        await send(sender, path);
        await receiver.quiet();
      });
    });
  }

  it("are cut when connecting takes too long", async () => {
    await withSender(receiver, { timeoutMs: 200 }, async (sender) => {
      await sender.send(aMessage({ url: receiver.url("/ok", { server: "mute" }) }), never);
      await receiver.quiet();
      expect(receiver.connections.mute).to.equal(1);
    });
  });

  it("are closed when a delivery attempt is aborted from outside", async () => {
    await withSender(receiver, {}, async (sender) => {
      const stop = new AbortController();
      const sent = sender.send(aMessage({ url: receiver.url("/hang") }), stop.signal);
      await receiver.received();
      stop.abort();
      expect(await sent).to.include({ failure: "timeout", message: "No response: it was aborted." });
      await receiver.quiet();
    });
  });

  it("are kept up to twenty for one origin", async () => {
    await withSender(receiver, { timeoutMs: 15_000 }, async (sender) => {
      await many(sender, 30);
      expect(receiver.connections.https).to.equal(30);
      await many(sender, 20);
      expect(receiver.connections.https).to.equal(30);
      await many(sender, 30);
      expect(receiver.connections.https).to.equal(40);
    });
  });

  it("stand apart: a hundred at once neither wait for one another nor leave listeners behind", async () => {
    const warnings: Error[] = [];
    const warn = (warning: Error): number => warnings.push(warning);
    process.on("warning", warn);
    try {
      await withSender(receiver, {}, async (sender) => {
        const stop = new AbortController();
        const hanging = Array.from({ length: 100 }, () =>
          sender.send(aMessage({ url: receiver.url("/hang") }), stop.signal),
        );
        await receiver.received(100);
        expect(await send(sender, "/ok")).to.include({ failure: null });
        stop.abort();
        expect(new Set((await Promise.all(hanging)).map(({ failure }) => failure))).to.deep.equal(new Set(["timeout"]));
        await new Promise((resolve) => setImmediate(resolve));
      });
    } finally {
      process.off("warning", warn);
    }
    expect(warnings).to.deep.equal([]);
  });

  it("are all gone after closing", async () => {
    const sender = senderFor(receiver);
    await many(sender, 5);
    await sender.close();
    await receiver.quiet();
  });
});
