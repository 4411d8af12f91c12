import { expect } from "chai";
import { DeliveryHarness } from "../../support/delivery-harness.js";
import { sendReturns } from "../../support/doubles/recording-sender.js";

const HOUR_MS = 3_600_000;

describe("An endpoint that fails for days", () => {
  let harness: DeliveryHarness;
  beforeEach(async () => {
    harness = await DeliveryHarness.open();
  });
  afterEach(() => harness.close());

  it("is disabled after five days, and its operator is warned before", async () => {
    const endpoint = await harness.endpoint();
    harness.sender.reception = sendReturns(500);
    harness.start(HOUR_MS / 2);
    for (let hours = 0; hours <= 124; hours += 4) {
      await harness.event(endpoint);
      await harness.pass(4 * HOUR_MS);
    }
    expect(await harness.kept(endpoint.id)).to.include({ status: "disabled", disabledBy: "failing" });
    expect(harness.metrics.counted.filter(([what]) => what !== "try" && what !== "delivery")).to.deep.equal([
      ["warning", 24],
      ["warning", 72],
      ["disabled", "failing"],
    ]);
    const warned = harness.logger.lines.filter(({ message }) => message === "A webhook endpoint has been failing");
    const fields = { endpoint: endpoint.id, account: harness.accountId };
    expect(warned.map((line) => [line.level, line.fields])).to.deep.equal([
      ["warn", { ...fields, hours: 24 }],
      ["warn", { ...fields, hours: 72 }],
    ]);
    const sent = harness.sender.messages.length;
    await harness.pass(24 * HOUR_MS);
    expect(harness.sender.messages).to.have.length(sent);
  });
});
