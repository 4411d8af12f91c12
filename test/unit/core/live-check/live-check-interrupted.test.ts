import { expect } from "chai";
import { submitAccepts, submitCompletes, submitHolds } from "../../../support/doubles/scripted-provider.js";
import { failure, LiveCheckBench, CREATED, MINUTE_MS, outcomes, running } from "./live-check-bench.js";

describe("LiveCheck, when it is interrupted", () => {
  let bench: LiveCheckBench;
  beforeEach(() => {
    bench = new LiveCheckBench();
  });

  it("waits for the reply to the submission, then cancels", async () => {
    const { behaviour, release } = submitHolds(submitAccepts(5_000));
    bench.provider.behaviour = behaviour;
    bench.cancels("cancelled");
    const checking = bench.begin();
    await bench.provider.submitted();
    bench.interrupted.abort();
    await bench.clock.advance(1_000);
    expect(bench.progress).to.deep.equal([{ type: "begun", step: "submit" }, { type: "awaiting_reply" }]);
    release();
    const result = await checking;
    expect(outcomes(result)).to.deep.equal(["submit ok", "poll failed", "cancel ok"]);
    expect(result).to.deep.include({ ok: false, isInterrupted: true });
    expect(result.purchase?.isBilled).to.equal("unknown");
    expect([bench.cancelled.length, bench.provider.polls.length]).to.deep.equal([1, 0]);
  });

  it("says that a generation was bought that the submission completed, and reads no files", async () => {
    const { behaviour, release } = submitHolds(submitCompletes);
    bench.provider.behaviour = behaviour;
    const checking = bench.begin();
    await bench.provider.submitted();
    bench.interrupted.abort();
    release();
    const result = await checking;
    expect(outcomes(result)).to.deep.equal(["submit ok"]);
    expect(result).to.deep.include({ ok: false, isInterrupted: true });
    expect(result.purchase?.isBilled).to.equal("yes");
  });

  it("ends the wait for the next poll, and says that it was bought where nothing can be cancelled", async () => {
    bench.polls(running(MINUTE_MS));
    const checking = bench.begin();
    await bench.clock.advance(5_000);
    bench.interrupted.abort();
    const result = await checking;
    expect(outcomes(result)).to.deep.equal(["submit ok", "poll failed"]);
    expect(result.steps[1]?.detail).to.equal("It was interrupted.");
    expect(result.purchase?.isBilled).to.equal("yes");
  });

  it("aborts a poll, and believes nothing that the plugin says of the aborted call", async () => {
    bench.polls(CREATED);
    bench.provider.pollBehaviour = (_handle, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(failure("failed", { billable: "no", providerCode: "E" })));
      });
    const checking = bench.begin();
    await bench.clock.advance(5_000);
    bench.interrupted.abort();
    const result = await checking;
    expect(result.steps[1]?.detail).to.equal("It was interrupted.");
    expect(result.purchase?.isBilled).to.equal("yes");
  });

  it("buys nothing after an interruption of the probe", async () => {
    bench.provider.probe = ({ signal }) =>
      new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(failure("unavailable"))));
    const checking = bench.begin();
    await bench.clock.advance(1_000);
    bench.interrupted.abort();
    expect(await checking).to.deep.include({ isInterrupted: true, purchase: null });
    expect(bench.provider.submissions).to.deep.equal([]);
  });

  it("ends at once with the second interruption, and says that the generation may be billed", async () => {
    bench.provider.behaviour = () => new Promise(() => undefined);
    bench.cancels("cancelled");
    const checking = bench.begin();
    await bench.provider.submitted();
    bench.interrupted.abort();
    bench.ended.abort();
    const result = await checking;
    expect(outcomes(result)).to.deep.equal(["submit failed"]);
    expect(result.steps[0]?.detail).to.equal("It was interrupted.");
    expect(result.purchase?.isBilled).to.equal("unknown");
  });
});
