import { expect } from "chai";
import { Webhook } from "standardwebhooks";
import { verifyWebhook, WebhookVerificationError } from "../../../adapters/client/index.js";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const BODY = '{"type": "generation.completed", "data": {"job_id": "job_1", "title": "Fährte"}}';

function signed({ secret = SECRET, at = new Date(), body = BODY } = {}): Record<string, string> {
  return {
    "webhook-id": "evt_1",
    "webhook-timestamp": String(Math.floor(at.getTime() / 1_000)),
    "webhook-signature": new Webhook(secret).sign("evt_1", at, body),
  };
}

async function refusal(...args: Parameters<typeof verifyWebhook>): Promise<string> {
  const error: unknown = await verifyWebhook(...args).then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).to.be.instanceOf(WebhookVerificationError);
  return (error as Error).message;
}

describe("verifyWebhook", () => {
  it("accepts what the library of the specification signs: text and bytes, headers of fetch and of Node", async () => {
    const bytes = new TextEncoder().encode(BODY);
    const headers = signed();
    for (const body of [BODY, bytes])
      for (const given of [headers, new Headers(headers), { ...headers, "webhook-id": ["evt_1"] }])
        expect((await verifyWebhook(body, given, SECRET)).type).to.equal("generation.completed");
  });

  it("accepts one right signature among several, and one right secret among several", async () => {
    const headers = signed();
    const both = `v1,AAAA v2,BBBB v1,%% ${headers["webhook-signature"]}`;
    await verifyWebhook(BODY, { ...headers, "webhook-signature": both }, SECRET);
    await verifyWebhook(BODY, headers, [`whsec_${btoa("another secret")}`, SECRET]);
  });

  it("refuses another body, id, time, secret or version, and a cut-off signature", async () => {
    const headers = signed();
    const signature = headers["webhook-signature"] as string;
    await refusal(`${BODY} `, headers, SECRET);
    await refusal(BODY, { ...headers, "webhook-id": "evt_2" }, SECRET);
    const later = String(Number(headers["webhook-timestamp"]) + 1);
    await refusal(BODY, { ...headers, "webhook-timestamp": later }, SECRET);
    await refusal(BODY, headers, `whsec_${btoa("another secret")}`);
    for (const wrong of [signature.replace("v1,", "v2,"), signature.slice(0, -8), "v1,", "nonsense"])
      await refusal(BODY, { ...headers, "webhook-signature": wrong }, SECRET);
  });

  it("refuses a missing header by name, and a time that is too far away", async () => {
    for (const name of ["webhook-id", "webhook-timestamp", "webhook-signature"])
      expect(await refusal(BODY, { ...signed(), [name]: undefined }, SECRET)).to.include(name);
    for (const offset of [-400_000, 400_000]) {
      const headers = signed({ at: new Date(Date.now() + offset) });
      expect(await refusal(BODY, headers, SECRET)).to.include("more than 300 s away");
      await verifyWebhook(BODY, headers, SECRET, { toleranceSeconds: 600 });
    }
    expect(await refusal(BODY, { ...signed(), "webhook-timestamp": "today" }, SECRET)).to.include("300 s");
  });
});
