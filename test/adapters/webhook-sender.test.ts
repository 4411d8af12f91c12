import { expect } from "chai";
import type { WebhookFailure, WebhookResult } from "../../core/ports/webhook-sender.js";
import { type SenderUnderTest, webhookSenderContract } from "../contract/webhook-sender.contract.js";
import { aMessage } from "../support/webhook-builders.js";
import { sendReturns, sendFails, sendHolds, RecordingSender } from "../support/doubles/recording-sender.js";
import { type ServerKind, FaultReceiver } from "../support/fault-receiver/receiver.js";
import { senderFor, withSender } from "./webhook-sender-support.js";

const never = new AbortController().signal;

webhookSenderContract("HttpsWebhookSender", async (): Promise<SenderUnderTest> => {
  const receiver = await FaultReceiver.open();
  const sender = senderFor(receiver);
  return {
    sender,
    urlFor: ({ status, retryAfterSeconds }) =>
      receiver.url(`/status/${status}${retryAfterSeconds === undefined ? "" : `?retry=${retryAfterSeconds}`}`),
    silentUrl: receiver.url("/hang"),
    arrived: () => receiver.received(),
    close: async () => {
      await sender.close();
      await receiver.close();
    },
  };
});

webhookSenderContract("RecordingSender", async (): Promise<SenderUnderTest> => {
  const sender = new RecordingSender();
  const { reception: hang } = sendHolds(sendFails("protocol"));
  sender.reception = (message, signal) => {
    const { pathname, searchParams } = new URL(message.url);
    const retry = searchParams.get("retry");
    return pathname === "/hang"
      ? hang(message, signal)
      : sendReturns(Number(pathname.slice(1)), { retryAfterMs: retry === null ? null : Number(retry) * 1000 })(
          message,
          signal,
        );
  };
  return {
    sender,
    urlFor: ({ status, retryAfterSeconds }) =>
      `https://receiver.example/${status}${retryAfterSeconds === undefined ? "" : `?retry=${retryAfterSeconds}`}`,
    silentUrl: "https://receiver.example/hang",
    arrived: () => sender.sent(),
    close: () => sender.close(),
  };
});

describe("HttpsWebhookSender, sending to a receiver that misbehaves", () => {
  let receiver: FaultReceiver;

  before(async () => {
    receiver = await FaultReceiver.open();
  });

  after(() => receiver.close());

  const send = (
    path: string,
    at: { readonly host?: string; readonly server?: ServerKind } = {},
    limits: { readonly timeoutMs?: number; readonly connectTimeoutMs?: number } = {},
  ): Promise<WebhookResult> =>
    withSender(receiver, { allowHttp: true, ...limits }, (sender) =>
      sender.send(aMessage({ url: receiver.url(path, at) }), never),
    );

  type Expected = {
    readonly failure: WebhookFailure | null;
    readonly status: number | null;
    readonly message: RegExp | null;
  };
  const cases: readonly (readonly [
    path: string,
    Expected,
    at?: { readonly host?: string; readonly server?: ServerKind },
  ])[] = [
    ["/ok", { failure: null, status: 200, message: null }],
    ["/ok", { failure: null, status: 200, message: null }, { server: "http" }],
    ["/ok", { failure: null, status: 200, message: null }, { host: "127.0.0.1" }],
    ["/ok", { failure: null, status: 200, message: null }, { host: "hooks.localhost." }],
    ["/empty", { failure: null, status: 204, message: null }],
    ["/interim", { failure: null, status: 200, message: null }],
    ["/large", { failure: null, status: 200, message: null }],
    ["/endless", { failure: null, status: 200, message: null }],
    ["/bomb", { failure: null, status: 200, message: null }],
    ["/stale", { failure: null, status: 200, message: null }],
    ["/hang", { failure: "timeout", status: null, message: /^No response: it was not over within 300 ms\.$/ }],
    [
      "/interim?then=hang",
      { failure: "timeout", status: null, message: /^No response: it was not over within 300 ms\.$/ },
    ],
    ["/slow-headers", { failure: "timeout", status: null, message: /^No response: it was not over within 300 ms\.$/ }],
    [
      "/drip",
      {
        failure: "timeout",
        status: 200,
        message: /^The response 200 was incomplete: it was not over within 300 ms\.$/,
      },
    ],
    ["/drip?status=410", { failure: "gone", status: 410, message: /^The receiver returned 410\.$/ }],
    ["/drip?status=500", { failure: "http_5xx", status: 500, message: /^The receiver returned 500\.$/ }],
    [
      "/redirect",
      {
        failure: "redirect",
        status: 302,
        message: /^The receiver returned 302 and points to \/ok; redirects are not followed\.$/,
      },
    ],
    ["/gone", { failure: "gone", status: 410, message: /^The receiver returned 410\.$/ }],
    ["/429", { failure: "http_4xx", status: 429, message: /^The receiver returned 429\.$/ }],
    ["/status/999", { failure: "protocol", status: 999, message: /^The receiver returned 999\.$/ }],
    ["/reset", { failure: "protocol", status: null, message: /^No response: the receiver reset the connection\.$/ }],
    ["/close", { failure: "protocol", status: null, message: /^No response: the receiver ended the connection\.$/ }],
    [
      "/half-close",
      {
        failure: "protocol",
        status: 200,
        message: /^The response 200 was incomplete: the receiver ended the connection\.$/,
      },
    ],
    ["/garbage", { failure: "protocol", status: null, message: /^No response: it is no HTTP\/1\.1\.$/ }],
    ["/many-headers", { failure: "protocol", status: null, message: /^No response: its headers are too long\.$/ }],
    [
      "/ok",
      { failure: "tls", status: null, message: /^No connection: expired\.localhost: its certificate has expired\.$/ },
      { host: "expired.localhost" },
    ],
    [
      "/ok",
      {
        failure: "tls",
        status: null,
        message:
          /^No connection: wrong-name\.localhost: its certificate is not for wrong-name\.localhost but for DNS:other\.example\.$/,
      },
      { host: "wrong-name.localhost" },
    ],
    [
      "/ok",
      {
        failure: "tls",
        status: null,
        message: /^No connection: self-signed\.localhost: its certificate is self-signed\.$/,
      },
      { host: "self-signed.localhost" },
    ],
    [
      "/ok",
      { failure: "tls", status: null, message: /issued by an authority that is not trusted/ },
      { host: "untrusted.localhost" },
    ],
    [
      "/ok",
      { failure: "tls", status: null, message: /^No connection: localhost: it does not speak TLS\.$/ },
      { server: "garbage" },
    ],
    [
      "/ok",
      {
        failure: "tls",
        status: null,
        message: /^No connection: localhost: it speaks no TLS of version 1\.2 or newer\.$/,
      },
      { server: "old-tls" },
    ],
    [
      "/ok",
      {
        failure: "timeout",
        status: null,
        message: /^No connection to localhost:\d+: it was not over within 300 ms\.$/,
      },
      { server: "mute" },
    ],
    [
      "/ok",
      { failure: "blocked_address", status: null, message: /^No connection: 10\.0\.0\.1 may not be connected to\.$/ },
      { host: "10.0.0.1" },
    ],
  ];

  for (const [path, { failure, status, message }, at] of cases) {
    it(`${at === undefined ? "" : `${Object.values(at).join(" ")}, `}${path}: ${failure ?? "success"}`, async () => {
      const result = await send(path, at, failure === "timeout" || path.startsWith("/drip") ? { timeoutMs: 300 } : {});
      expect({ failure: result.failure, status: result.status }).to.deep.equal({ failure, status });
      if (message === null) expect(result.message).to.equal(null);
      else expect(result.message).to.match(message);
    });
  }

  it("reports a handshake that never ends as a failure of TLS, once the time for connecting is over", async () => {
    const result = await send("/ok", { server: "mute" }, { connectTimeoutMs: 200 });
    expect(result).to.include({
      failure: "tls",
      message: "No connection: localhost: the TLS handshake was not over in time.",
    });
    expect(result.phases.connectMs).to.be.a("number");
    expect(result.phases.tlsMs).to.equal(null);
  });

  it("says that a port is shut", async () => {
    const shut = await FaultReceiver.open();
    const url = shut.url("/ok");
    await shut.close();
    const result = await withSender(receiver, {}, (sender) => sender.send(aMessage({ url }), never));
    expect(result).to.include({ failure: "connect", status: null });
    expect(result.message).to.match(/^No connection: 127\.0\.0\.1 port \d+ refused the connection\.$/);
  });

  it("sends nothing over plain http unless it is allowed, and nothing by any other scheme", async () => {
    const before = receiver.connections.http;
    for (const url of [receiver.url("/ok", { server: "http" }), "ftp://localhost/", "not a URL"]) {
      const result = await withSender(receiver, {}, (sender) => sender.send(aMessage({ url }), never));
      expect(result, url).to.include({ failure: "blocked_address", status: null });
    }
    expect(receiver.connections.http).to.equal(before);
  });

  it("sends nothing without a secret", async () => {
    const before = receiver.requests.length;
    const result = await withSender(receiver, {}, (sender) =>
      sender.send(aMessage({ url: receiver.url("/ok"), secrets: [] }), never),
    );
    expect(result).to.include({ failure: "blocked_address", message: "There is no secret to sign with." });
    expect(receiver.requests.length).to.equal(before);
  });

  it("does not go where a redirect points", async () => {
    const before = receiver.requests.length;
    await send("/redirect?to=/ok");
    expect(receiver.requests.slice(before).map(({ path }) => path)).to.deep.equal(["/redirect?to=/ok"]);
  });

  it("shows of a redirect neither what may be a token nor control characters", async () => {
    const { message } = await send(
      `/redirect?to=${encodeURIComponent("https://login.example/path?token=secret#secret")}`,
    );
    expect(message).to.equal(
      "The receiver returned 302 and points to https://login.example/path; redirects are not followed.",
    );
  });

  it("does not unpack, and asks for nothing packed", async () => {
    const result = await send("/bomb");
    expect(result.excerpt.length).to.be.within(1, 1_024);
    expect(receiver.requests.at(-1)?.headers).to.not.have.property("accept-encoding");
  });

  it("shows the beginning of a body, harmless whatever it holds", async () => {
    expect((await send("/ok")).excerpt).to.equal('{"received":true}\n');
    expect((await send("/large")).excerpt).to.equal("x".repeat(1_024));
    expect((await send("/large?bytes=16385")).excerpt).to.equal("x".repeat(1_024));
    expect((await send("/binary")).excerpt).to.equal("one\ntwo\t\ufffd[31mred\ufffd\ufffd\ufffd\ufffd\ufffd\ufffdend");
    expect((await send("/drip?every=1", {}, { timeoutMs: 300 })).excerpt).to.match(/^\.+$/);
  });

  it("goes the same way whatever the environment says of proxies and certificates", async () => {
    const proxy = await FaultReceiver.open();
    const names = [
      "HTTPS_PROXY",
      "https_proxy",
      "HTTP_PROXY",
      "http_proxy",
      "ALL_PROXY",
      "NODE_TLS_REJECT_UNAUTHORIZED",
      "NODE_USE_ENV_PROXY",
    ];
    const kept = names.map((name) => [name, process.env[name]] as const);
    try {
      for (const name of names)
        process.env[name] = name.startsWith("NODE_")
          ? name.endsWith("PROXY")
            ? "1"
            : "0"
          : proxy.url("", { server: "http" });
      expect(await send("/ok")).to.include({ failure: null });
      expect(await send("/ok", { server: "http" })).to.include({ failure: null });
      expect(await send("/ok", { host: "self-signed.localhost" })).to.include({ failure: "tls" });
      expect(proxy.connections.http).to.equal(0);
    } finally {
      for (const [name, value] of kept) {
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
      await proxy.close();
    }
  });
});
