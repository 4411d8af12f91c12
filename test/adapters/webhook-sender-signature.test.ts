import { randomBytes } from "node:crypto";
import { expect } from "chai";
import fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { signedHeaders } from "../../adapters/webhooks/https/signature.js";
import { aMessage } from "../support/webhook-builders.js";
import { FaultReceiver, type ReceivedRequest } from "../support/fault-receiver/receiver.js";
import { withSender } from "./webhook-sender-support.js";

const never = new AbortController().signal;
const newSecret = (): string => `whsec_${randomBytes(32).toString("base64")}`;

describe("A message of HttpsWebhookSender, as it arrives", () => {
  let receiver: FaultReceiver;

  beforeEach(async () => {
    receiver = await FaultReceiver.open();
  });

  afterEach(() => receiver.close());

  async function arrivedOf(fields: Partial<Parameters<typeof aMessage>[0]> = {}): Promise<ReceivedRequest> {
    await withSender(receiver, {}, (sender) =>
      sender.send(aMessage({ url: receiver.url("/ok"), sentAt: Date.now(), ...fields }), never),
    );
    return (await receiver.received()).at(-1) as ReceivedRequest;
  }

  const verify = (secret: string, { body, headers }: ReceivedRequest): unknown =>
    new Webhook(secret).verify(body, headers as Record<string, string>);

  it("is a POST of the very bytes to path and query, as JSON, from Fermata", async () => {
    const body = '{ "type": "generation.completed",  "data": {"title":"Ä 音楽 🎵 \\u00e9"} }\n';
    const {
      method,
      path,
      headers,
      body: arrived,
    } = await arrivedOf({ url: receiver.url("/ok/a%20b?c=d&e=%26#fragment"), body });
    expect({ method, path, body: arrived.toString("utf8") }).to.deep.equal({
      method: "POST",
      path: "/ok/a%20b?c=d&e=%26",
      body,
    });
    expect(headers).to.include({
      "content-type": "application/json",
      "user-agent": "Fermata-Webhooks/1.2.3",
      "content-length": String(Buffer.byteLength(body)),
    });
    expect(headers.host).to.equal(`localhost:${receiver.portOf("https")}`);
    expect(headers).to.not.have.any.keys("authorization", "cookie", "accept-encoding", "transfer-encoding");
  });

  it("is accepted by the public library", async () => {
    const secret = newSecret();
    const request = await arrivedOf({ secrets: [secret], body: '{"type":"x","data":"é🎵"}' });
    expect(verify(secret, request)).to.deep.equal({ type: "x", data: "é🎵" });
    expect(request.headers["webhook-id"]).to.equal(aMessage({ url: "" }).eventId);
  });

  it("names the trace that it is a part of, and none where there is none", async () => {
    const traceparent = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;
    const traced = await arrivedOf({ trace: { traceparent, tracestate: "shop=7" } });
    expect(traced.headers).to.include({ traceparent, tracestate: "shop=7" });
    const alone = await arrivedOf({ trace: { traceparent, tracestate: null } });
    expect(alone.headers).to.include({ traceparent }).and.to.not.have.property("tracestate");
    expect((await arrivedOf()).headers).to.not.have.any.keys("traceparent", "tracestate");
  });

  it("is accepted under each of two secrets, the current one's signature first, and under no other", async () => {
    const [current, former] = [newSecret(), newSecret()];
    const request = await arrivedOf({ secrets: [current, former] });
    for (const secret of [current, former]) expect(() => verify(secret, request)).to.not.throw();
    expect(() => verify(newSecret(), request)).to.throw("No matching signature found");
    const signatures = String(request.headers["webhook-signature"]).split(" ");
    expect(signatures).to.have.length(2);
    expect(signatures[0]).to.equal(
      signedHeaders({
        ...aMessage({ url: "" }),
        sentAt: Number(request.headers["webhook-timestamp"]) * 1000,
        secrets: [current],
      })["webhook-signature"],
    );
  });

  it("is refused by the public library when a byte of its body, its id or its time is another", async () => {
    const secret = newSecret();
    const request = await arrivedOf({ secrets: [secret] });
    const { headers, body } = request;
    const changed: readonly ReceivedRequest[] = [
      { ...request, body: Buffer.concat([body, Buffer.from(" ")]) },
      { ...request, headers: { ...headers, "webhook-id": "evt_other" } },
      { ...request, headers: { ...headers, "webhook-timestamp": String(Number(headers["webhook-timestamp"]) + 1) } },
    ];
    expect(() => verify(secret, request)).to.not.throw();
    for (const one of changed) expect(() => verify(secret, one)).to.throw("No matching signature found");
  });
});

describe("The headers of Standard Webhooks", () => {
  const vector = {
    secrets: ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
    eventId: "msg_p5jXN8AQM9LWM0D4loKWxJek",
    sentAt: 1_614_265_330_999,
    body: '{"test": 2432232314}',
  };

  it("are those of the published example, the time cut to whole seconds", () => {
    expect(signedHeaders(vector)).to.deep.equal({
      "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
      "webhook-timestamp": "1614265330",
      "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    });
  });

  it("equal those of the public library for any body and secret", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.uint8Array({ minLength: 24, maxLength: 64 }), (body, key) => {
        const secret = `whsec_${Buffer.from(key).toString("base64")}`;
        const expected = new Webhook(secret).sign(vector.eventId, new Date(vector.sentAt), body);
        return signedHeaders({ ...vector, body, secrets: [secret] })["webhook-signature"] === expected;
      }),
    );
  });
});
