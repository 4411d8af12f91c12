import { expect } from "chai";
import { AesSecretBox } from "../../../../adapters/crypto/secret-box.js";
import type { WebhookEndpoint } from "../../../../core/ports/webhook-records.js";
import { spanIdOf, traceIdOf } from "../../../../core/tracing/trace-context.js";
import { SendDelivery } from "../../../../core/webhooks/send-delivery.js";
import { NOON } from "../../../support/builders.js";
import { FixedKeyring } from "../../../support/doubles/fixed-keyring.js";
import { ManualClock } from "../../../support/doubles/manual-clock.js";
import { RecordingMetrics } from "../../../support/doubles/recording-metrics.js";
import { RecordingSender, sendFails, sendReturns } from "../../../support/doubles/recording-sender.js";
import { RecordingTracer } from "../../../support/doubles/recording-tracer.js";
import { anEndpoint, anEvent } from "../../../support/webhook-builders.js";

const OF_JOB = { traceparent: `00-${"a".repeat(32)}-${"b".repeat(16)}-01`, tracestate: "vendor=1" };

describe("Sending a delivery", () => {
  const secretBox = new AesSecretBox(new FixedKeyring());
  const clock = new ManualClock(NOON);
  const { signal } = new AbortController();
  let sender: RecordingSender;
  let metrics: RecordingMetrics;
  let tracer: RecordingTracer;
  beforeEach(() => {
    sender = new RecordingSender();
    metrics = new RecordingMetrics();
    tracer = new RecordingTracer();
  });

  const deliveries = (deps: Partial<ConstructorParameters<typeof SendDelivery>[0]> = {}): SendDelivery =>
    new SendDelivery({ sender, secretBox, clock, metrics, tracer, ...deps });

  function sealed(fields: Partial<WebhookEndpoint> = {}): WebhookEndpoint {
    const endpoint = anEndpoint(fields);
    return { ...endpoint, sealedSecret: secretBox.seal("whsec_current", endpoint.id) };
  }

  it("sends the event to its URL, with its secrets and the time, and returns what became of it", async () => {
    const [event, endpoint] = [anEvent(), sealed({ url: "https://one.example.com/hooks" })];
    const retired = { sealed: secretBox.seal("whsec_before", endpoint.id), signsUntil: NOON + 1 };
    sender.reception = sendReturns(429, { retryAfterMs: 5_000 });
    const result = await deliveries().send(event, { ...endpoint, retiredSecrets: [retired] }, signal);
    expect(result).to.include({ failure: "http_4xx", status: 429, retryAfterMs: 5_000 });
    expect(sender.messages).to.deep.equal([
      {
        url: "https://one.example.com/hooks",
        eventId: event.id,
        sentAt: NOON,
        body: event.body,
        secrets: ["whsec_current", "whsec_before"],
        trace: null,
      },
    ]);
  });

  it("counts each attempt by its end, with or without figures and traces", async () => {
    await deliveries().send(anEvent(), sealed(), signal);
    sender.reception = sendFails("tls");
    await deliveries({ tracer: null }).send(anEvent(), sealed(), signal);
    await deliveries({ metrics: null }).send(anEvent(), sealed(), signal);
    expect(metrics.counted).to.deep.equal([
      ["try", "delivered"],
      ["try", "tls"],
    ]);
    expect(sender.messages).to.have.length(3);
  });

  it("opens the secrets of an endpoint once, however many deliveries are sent to what was read of it", async () => {
    const opened: string[] = [];
    const open = (text: string, context: string): Promise<string> => {
      opened.push(context);
      return secretBox.open(text, context);
    };
    const counting = { seal: secretBox.seal.bind(secretBox), keyIdOf: secretBox.keyIdOf.bind(secretBox), open };
    const [endpoint, sends] = [sealed(), deliveries({ secretBox: counting })];
    await Promise.all([sends.send(anEvent(), endpoint, signal), sends.send(anEvent(), endpoint, signal)]);
    expect(opened).to.deep.equal([endpoint.id]);
    const changed = { ...endpoint, sealedSecret: secretBox.seal("whsec_new", endpoint.id) };
    await sends.send(anEvent(), changed, signal);
    expect(opened).to.have.length(2);
    expect(sender.messages.map(({ secrets }) => secrets)).to.deep.equal([
      ["whsec_current"],
      ["whsec_current"],
      ["whsec_new"],
    ]);
  });

  it("sends nothing where a secret cannot be opened", async () => {
    const elsewhere = { ...sealed(), id: anEndpoint().id };
    const sent = deliveries().send(anEvent(), elsewhere, signal);
    expect(await sent.catch((error: unknown) => error)).to.be.instanceOf(Error);
    expect([sender.messages, metrics.counted]).to.deep.equal([[], []]);
  });

  describe("has a span", () => {
    it("of the job's trace when the schedule sends it, which the message names", async () => {
      const event = anEvent({ trace: OF_JOB });
      const endpoint = sealed({ url: "https://one.example.com:8443/hooks?token=secret" });
      await deliveries().send(event, endpoint, signal);
      const [span, ...others] = tracer.ended;
      expect(others).to.deep.equal([]);
      expect(span).to.deep.include({
        name: "deliver webhook",
        kind: "client",
        traceId: "a".repeat(32),
        parentId: "b".repeat(16),
        links: [],
        hasFailed: false,
        attributes: {
          "http.request.method": "POST",
          "server.address": "one.example.com",
          "fermata.event.id": event.id,
          "fermata.event.type": "generation.completed",
          "fermata.endpoint.id": endpoint.id,
          "fermata.job.id": event.jobId,
          "http.response.status_code": 200,
        },
      });
      const [{ trace } = { trace: null }] = sender.messages;
      expect([trace && spanIdOf(trace), trace?.tracestate]).to.deep.equal([span?.spanId, "vendor=1"]);
    });

    it("that fails with the attempt's failure", async () => {
      sender.reception = sendFails("connect");
      await deliveries().send(anEvent({ trace: OF_JOB }), sealed(), signal);
      const [span] = tracer.ended;
      expect([span?.hasFailed, span?.attributes["error.type"]]).to.deep.equal([true, "connect"]);
      expect(span?.attributes).to.not.have.property("http.response.status_code");
    });

    it("of the operator's trace when one asks for it, linked with the job's", async () => {
      const asked = tracer.start({ name: "POST /admin", parent: null });
      const send = (trace: typeof OF_JOB | null): Promise<unknown> =>
        tracer.within(asked, () => deliveries().send(anEvent({ trace }), sealed(), signal));
      await send(OF_JOB);
      await send(null);
      const own = { traceId: traceIdOf(asked.context), parentId: spanIdOf(asked.context) };
      expect(tracer.ended[0]).to.deep.include({ ...own, links: ["b".repeat(16)] });
      expect(tracer.ended[1]).to.deep.include({ ...own, links: [] });
    });

    it("nowhere when it is part of no trace", async () => {
      await deliveries().send(anEvent(), sealed(), signal);
      expect(tracer.ended).to.deep.equal([]);
      expect(sender.messages).to.have.length(1);
    });
  });
});
