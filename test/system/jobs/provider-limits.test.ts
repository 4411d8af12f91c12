import { expect } from "chai";
import { submitAccepts, submitCompletes, SCRIPTED_TRACK } from "../../support/doubles/scripted-provider.js";
import { WorkerHarness } from "./worker-harness.js";

describe("The jobs at one provider", () => {
  let harness: WorkerHarness;
  beforeEach(async () => {
    harness = await WorkerHarness.open();
  });
  afterEach(() => harness.close());

  it("are limited across all processes, rendering ones included", async () => {
    harness.provider.behaviour = submitAccepts(10_000);
    harness.provider.pollBehaviour = () => Promise.resolve({ state: "running", nextPollMs: 10_000 });
    for (let worker = 0; worker < 3; worker++) await harness.start({ maxInFlight: 2 });
    const jobs = await harness.accept(5);
    await harness.pass(30_000);
    expect(harness.provider.submissions).to.have.length(2);

    harness.provider.behaviour = submitCompletes;
    harness.provider.pollBehaviour = () => Promise.resolve({ state: "completed", tracks: [SCRIPTED_TRACK] });
    await harness.pass(15_000);
    for (const { id } of jobs) await harness.expectCompleted(id);
  });
});
