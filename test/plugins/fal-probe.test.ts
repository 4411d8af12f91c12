import { expect } from "chai";
import { type ProbeResult, ProviderFailure } from "../../core/ports/music-provider.js";
import definition from "../../plugins/fal/index.js";
import { FakeApi, json, providerHost, settingsOf } from "../support/provider-kit/index.js";
import { BILLING, falHarness, KEY } from "./fal-support.js";

describe("fal: the probe", () => {
  let fake: FakeApi;
  beforeEach(async () => {
    fake = await FakeApi.open();
  });
  afterEach(() => fake.close());

  /** What it finds, or why it fails. */
  async function probe(response: Parameters<FakeApi["on"]>[2]): Promise<unknown> {
    fake.on(BILLING.method, BILLING.path, response);
    const provider = definition.create(providerHost({ settings: settingsOf(definition, falHarness.settings(fake)) }));
    try {
      return await provider.probe?.({ signal: new AbortController().signal });
    } catch (error) {
      if (!ProviderFailure.is(error)) throw error;
      return error;
    }
  }

  it("asks the platform for the balance with the key", async () => {
    const credits = { current_balance: 3, currency: "usd" };
    expect(await probe(json({ username: "acme", credits }))).to.deep.equal({
      credit: { amount: 3, unit: "USD" },
      warnings: [],
    });
    const [request] = fake.calls(BILLING);
    expect([request?.query, request?.headers["authorization"]]).to.deep.equal([{ expand: "credits" }, `Key ${KEY}`]);
  });

  it("takes a key that may not read the balance for a good one, and says so", async () => {
    const error = { type: "authorization_error", message: "Admin API key required" };
    const { credit, warnings } = (await probe(json({ error }, { status: 403 }))) as ProbeResult;
    expect(credit).to.equal(null);
    expect(warnings).to.have.lengthOf(1);
    expect(warnings[0]).to.include("scope ADMIN");
  });

  it("distinguishes an empty account from a key that may not read the balance", async () => {
    const locked = json({ detail: "User is locked. Reason: Exhausted balance." }, { status: 403 });
    expect(await probe(locked)).to.include({ kind: "out_of_credit" });
    const empty = json({ username: "acme", credits: { current_balance: 0, currency: "USD" } });
    expect(await probe(empty)).to.deep.equal({ credit: { amount: 0, unit: "USD" }, warnings: ["No balance is left."] });
  });

  it("warns where the billing response has no balance", async () => {
    expect(await probe(json({ username: "acme" }))).to.deep.equal({
      credit: null,
      warnings: ["The account's billing response has no balance."],
    });
  });
});
