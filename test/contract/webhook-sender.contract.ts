import { expect } from "chai";
import type { WebhookFailure, WebhookSender } from "../../core/ports/webhook-sender.js";
import { aMessage } from "../support/webhook-builders.js";

/** A sender, and receivers that it may reach. */
export interface SenderUnderTest {
  readonly sender: WebhookSender;
  /** The URL of a receiver that returns this status, `Retry-After` of so many seconds, and this body. */
  urlFor(response: { readonly status: number; readonly retryAfterSeconds?: number }): string;
  /** The URL of a receiver that does not respond for longer than a test runs. */
  readonly silentUrl: string;
  /** Resolves when a message has arrived there. */
  arrived(): Promise<unknown>;
  close(): Promise<void>;
}

const STATUSES: readonly (readonly [status: number, failure: WebhookFailure | null])[] = [
  [200, null],
  [201, null],
  [202, null],
  [204, null],
  [299, null],
  [300, "redirect"],
  [302, "redirect"],
  [304, "redirect"],
  [308, "redirect"],
  [400, "http_4xx"],
  [401, "http_4xx"],
  [404, "http_4xx"],
  [410, "gone"],
  [429, "http_4xx"],
  [500, "http_5xx"],
  [502, "http_5xx"],
  [503, "http_5xx"],
  [599, "http_5xx"],
];

/**
 * The promises of every `WebhookSender`.
 *
 * @param open called for each test
 */
export function webhookSenderContract(name: string, open: () => Promise<SenderUnderTest>): void {
  describe(`WebhookSender contract: ${name}`, () => {
    const never = new AbortController().signal;
    let tested: SenderUnderTest;

    beforeEach(async () => {
      tested = await open();
    });

    afterEach(() => tested.close());

    for (const [status, failure] of STATUSES) {
      it(`reads ${status} as ${failure ?? "success"}`, async () => {
        const result = await tested.sender.send(aMessage({ url: tested.urlFor({ status }) }), never);
        expect({ failure: result.failure, status: result.status, retryAfterMs: result.retryAfterMs }).to.deep.equal({
          failure,
          status,
          retryAfterMs: null,
        });
        if (failure === null) expect(result.message).to.equal(null);
        else expect(result.message).to.be.a("string").and.include(String(status));
      });
    }

    it("returns the time of Retry-After", async () => {
      const url = tested.urlFor({ status: 429, retryAfterSeconds: 7 });
      expect(await tested.sender.send(aMessage({ url }), never)).to.include({
        failure: "http_4xx",
        status: 429,
        retryAfterMs: 7_000,
      });
    });

    it("measures consecutive phases", async () => {
      const { phases } = await tested.sender.send(aMessage({ url: tested.urlFor({ status: 200 }) }), never);
      const times = [phases.dnsMs, phases.connectMs, phases.tlsMs, phases.firstByteMs, phases.totalMs].filter(
        (time) => time !== null,
      );
      expect(times).to.deep.equal([...times].sort((a, b) => a - b));
      expect(phases.firstByteMs).to.be.a("number").and.at.least(0);
    });

    it("aborts as a timeout on its signal, with nothing of a missing response", async () => {
      const stop = new AbortController();
      const sent = tested.sender.send(aMessage({ url: tested.silentUrl }), stop.signal);
      await tested.arrived();
      stop.abort();
      const { failure, status, retryAfterMs, excerpt, phases } = await sent;
      expect({ failure, status, retryAfterMs, excerpt, firstByteMs: phases.firstByteMs }).to.deep.equal({
        failure: "timeout",
        status: null,
        retryAfterMs: null,
        excerpt: "",
        firstByteMs: null,
      });
    });

    it("aborts before it starts when its signal is already aborted", async () => {
      expect(
        await tested.sender.send(aMessage({ url: tested.urlFor({ status: 200 }) }), AbortSignal.abort()),
      ).to.include({ failure: "timeout", status: null });
    });

    it("aborts running attempts when it is closed, and sends nothing more", async () => {
      const sent = tested.sender.send(aMessage({ url: tested.silentUrl }), never);
      await tested.arrived();
      await tested.sender.close();
      expect(await sent).to.include({ failure: "timeout", status: null });
      expect(await tested.sender.send(aMessage({ url: tested.urlFor({ status: 200 }) }), never)).to.include({
        failure: "timeout",
        status: null,
      });
    });

    it("includes its secrets in no message", async () => {
      const messages: (string | null)[] = [];
      for (const status of [302, 410, 503])
        messages.push((await tested.sender.send(aMessage({ url: tested.urlFor({ status }) }), never)).message);
      expect(messages.join("\n")).to.include("503").and.not.include("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
    });
  });
}
