import { expect } from "chai";
import { accepts, completes, SCRIPTED_TRACK } from "../../support/doubles/scripted-provider.js";
import { WorkerHarness } from "./worker-harness.js";

describe("The jobs that a provider takes at once", () => {
  let shop: WorkerHarness;
  beforeEach(async () => {
    shop = await WorkerHarness.open();
  });
  afterEach(() => shop.close());

  it("are limited for all processes together, rendering ones included", async () => {
    shop.provider.behaviour = accepts(10_000);
    shop.provider.pollBehaviour = () => Promise.resolve({ state: "running", nextPollMs: 10_000 });
    for (let worker = 0; worker < 3; worker++) await shop.start({ maxInFlight: 2 });
    const jobs = await shop.accept(5);
    await shop.pass(30_000);
    expect(shop.provider.submissions).to.have.length(2);

    shop.provider.behaviour = completes;
    shop.provider.pollBehaviour = () => Promise.resolve({ state: "completed", tracks: [SCRIPTED_TRACK] });
    await shop.pass(15_000);
    for (const { id } of jobs) await shop.expectCompleted(id);
  });
});
