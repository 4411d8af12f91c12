import { expect } from "chai";
import type { Completed } from "../../../../core/ports/music-provider.js";
import { submitCompletes } from "../../../support/doubles/scripted-provider.js";
import { COST, failure, LiveCheckBench, CREATED, MINUTE_MS, outcomes, running, TRACKS } from "./live-check-bench.js";

describe("LiveCheck", () => {
  let bench: LiveCheckBench;
  beforeEach(() => {
    bench = new LiveCheckBench();
  });

  it("submits the generation once, polls as the provider asks for, reads the files, and times each step", async () => {
    bench.polls(running(7_000), CREATED);
    const result = await bench.run();
    expect(result.steps.map(({ step, outcome, ms }) => [step, outcome, ms])).to.deep.equal([
      ["submit", "ok", 0],
      ["poll", "ok", 12_000],
      ["files", "ok", 0],
    ]);
    expect(result).to.deep.include({ ok: true, isInterrupted: false, tracks: TRACKS });
    expect(result.purchase).to.deep.include({ modelId: "owl/song", isBilled: "yes", cost: COST });
    expect(bench.provider.submissions).to.have.length(1);
    const [request] = bench.provider.submissions;
    expect(request).to.deep.include({ operation: "music", attempt: 1, callbackUrl: null, durationSeconds: 5 });
    expect(request?.attemptId).to.equal(result.purchase?.attemptId);
    expect(bench.progress).to.deep.include({ type: "rendering", ms: 5_000, detail: "still running" });
    expect(result.steps.at(-1)?.detail).to.equal("1 track, 0 files.");
  });

  it("ends at a poll that returns what the port does not allow, and names the member", async () => {
    bench.polls({ status: "done" } as unknown as Completed);
    const result = await bench.run();
    expect(outcomes(result).slice(0, 2)).to.deep.equal(["submit ok", "poll failed"]);
    expect(result.steps[1]?.detail).to.equal(
      "unavailable: The plugin owl returned from poll what the host cannot use: state: missing; allowed: running, " +
        "completed.",
    );
    expect(bench.provider.polls).to.have.length(1);
    expect(result.purchase).to.include({ isBilled: "yes" });
  });

  it("needs no poll where the submission completes the generation", async () => {
    bench.provider.behaviour = submitCompletes;
    const result = await bench.run();
    expect(outcomes(result)).to.deep.equal(["submit ok", "files ok"]);
    expect(result.purchase).to.deep.include({ isBilled: "yes", work: null, cost: null });
  });

  it("tries the key first, and buys nothing when it is refused or no credit is left", async () => {
    const refusal = failure("misconfigured", { providerCode: "E1", requestId: "sesame-7" });
    bench.provider.probe = () => Promise.reject(refusal);
    const refused = await bench.run();
    expect(refused.steps).to.deep.equal([
      {
        step: "probe",
        outcome: "failed",
        ms: 0,
        detail: "misconfigured: it is misconfigured (its code: E1) (its request: …-7)",
      },
    ]);
    bench.provider.probe = () => Promise.resolve({ credit: { amount: 0, unit: "USD" }, warnings: [] });
    const empty = await bench.run();
    expect(outcomes(empty)).to.deep.equal(["probe failed"]);
    expect([refused.purchase, empty.purchase, bench.provider.submissions]).to.deep.equal([null, null, []]);
  });

  it("only tries the key where there is no generation to buy", async () => {
    bench.provider.probe = () => Promise.resolve({ credit: { amount: 4, unit: "USD" }, warnings: ["Soon empty."] });
    const result = await bench.run(false);
    expect(result).to.deep.include({ ok: true, purchase: null });
    expect(result.steps[0]?.detail).to.equal("It takes the key, 4 USD left. Soon empty.");
  });

  it("takes a key whose credit is not known", async () => {
    bench.provider.probe = () => Promise.resolve({ credit: null, warnings: [] });
    expect((await bench.run(false)).steps[0]?.detail).to.equal("It takes the key.");
  });

  it("names what was bought without secrets, and cuts what is long", async () => {
    const taskOf = async (task: string): Promise<string | null | undefined> => {
      bench.provider.behaviour = async () => ({
        state: "accepted",
        handle: { version: 1, data: { task } },
        nextPollMs: 5_000,
      });
      bench.provider.pollBehaviour = () => Promise.resolve(CREATED);
      return (await bench.run()).purchase?.work;
    };
    expect(await taskOf("sesame 1")).to.equal('{"task":"… 1"}');
    const whole = "x".repeat(1_000 - '{"task":""}'.length);
    expect(await taskOf(whole)).to.equal(`{"task":"${whole}"}`);
    expect(await taskOf(`${whole}x`)).to.equal(`{"task":"${whole}x"…`);
  });

  for (const [said, error, isBilled] of [
    ["refused it", failure("unavailable"), "no"],
    ["may have taken it", failure("outcome_unknown"), "unknown"],
    ["bills what failed", failure("failed", { billable: "yes" }), "yes"],
    ["met a bug of the plugin", new TypeError("sesame of undefined"), "unknown"],
  ] as const) {
    it(`says ${isBilled} of the bill after a submission whose provider ${said}`, async () => {
      bench.provider.behaviour = () => Promise.reject(error);
      const result = await bench.run();
      expect(outcomes(result)).to.deep.equal(["submit failed"]);
      expect(result.purchase?.isBilled).to.equal(isBilled);
      expect(JSON.stringify(result)).to.not.include("sesame");
      expect(bench.provider.submissions).to.have.length(1);
    });
  }

  it("gives a submission up at the limit of its calls, as one of unknown outcome", async () => {
    bench.provider.behaviour = () => new Promise(() => undefined);
    const result = await bench.run();
    expect(result.steps[0]).to.include({ outcome: "failed", ms: MINUTE_MS + 5_000 });
    expect(result.purchase?.isBilled).to.equal("unknown");
  });

  it("polls again while the provider cannot be asked, as late as it says", async () => {
    bench.polls(failure("unavailable"), failure("rate_limited", { retryAfterMs: 30_000 }), new Error("a bug"), CREATED);
    const result = await bench.run();
    expect(outcomes(result)).to.deep.equal(["submit ok", "poll ok", "files ok"]);
    expect(result.steps[1]?.ms).to.equal(5_000 + 2_000 + 30_000 + 2_000);
  });

  it("doubts an end without a reason for a minute, and names what was bought when it stays so", async () => {
    bench.polls(failure("failed"), failure("gone"), running(1_000), failure("gone"), CREATED);
    expect((await bench.run()).ok).to.equal(true);
    bench.polls(failure("gone"));
    bench.cancels("cancelled");
    const result = await bench.run();
    expect(outcomes(result)).to.deep.equal(["submit ok", "poll failed"]);
    expect(result.steps[1]?.ms).to.equal(5_000 + MINUTE_MS);
    expect(result.purchase).to.deep.include({ isBilled: "unknown", cost: null });
    expect(result.purchase?.work).to.match(/^\{"task":"job_\w+"\}$/);
    expect(bench.cancelled).to.deep.equal([]);
  });

  it("ends at once with an end that has a reason, and with a refusal that only the operator can fix", async () => {
    bench.cancels("cancelled");
    for (const [error, isBilled, more] of [
      [failure("failed", { providerCode: "E7", billable: "no" }), "no", []],
      [failure("content_rejected"), "unknown", []],
      [failure("misconfigured"), "unknown", ["cancel ok"]],
    ] as const) {
      bench.polls(error);
      const result = await bench.run();
      expect(outcomes(result), error.kind).to.deep.equal(["submit ok", "poll failed", ...more]);
      expect(result.steps[1]?.ms).to.equal(5_000);
      expect(result.purchase?.isBilled).to.equal(isBilled);
    }
  });

  it("keeps to the deadline, polls once more then, and cancels with the newest handle", async () => {
    const newer = { version: 1, data: { task: "newer" } };
    bench.polls(running(4 * MINUTE_MS, newer));
    bench.cancels("requested");
    const result = await bench.run();
    expect(outcomes(result)).to.deep.equal(["submit ok", "poll failed", "cancel ok"]);
    expect(result.steps[1]).to.include({
      ms: 10 * MINUTE_MS,
      detail: "It was not complete after 10 minutes: still running.",
    });
    expect(bench.cancelled).to.deep.equal([newer]);
    expect(result.purchase?.isBilled).to.equal("unknown");
  });

  it("says so when it is too late to cancel", async () => {
    bench.polls(running(20 * MINUTE_MS));
    bench.cancels("too_late");
    const result = await bench.run();
    expect(outcomes(result)).to.deep.equal(["submit ok", "poll failed", "cancel failed"]);
    expect(result.purchase?.isBilled).to.equal("yes");
  });

  it("fails with the first thing that is wrong with the files", async () => {
    bench.provider.behaviour = submitCompletes;
    bench.files = [{ title: "sesame", files: [], issues: ["It came without sesame."] }];
    const result = await bench.run();
    const detail = "1 track, 0 files; 1 wrong: It came without ….";
    expect(result.steps.at(-1)).to.include({ outcome: "failed", detail });
    expect(result.tracks).to.deep.equal([{ title: "…", files: [], issues: ["It came without …."] }]);
    const file = {
      role: "mix",
      label: "the sesame mix",
      contentType: "audio/mpeg",
      sizeBytes: 1,
      durationSeconds: 1,
    } as const;
    bench.files = [
      { title: null, files: [{ ...file, issues: ["It is sesame."] }], issues: [] },
      { title: "b", files: [], issues: [] },
    ];
    const wrong = await bench.run();
    expect(wrong.steps.at(-1)?.detail).to.equal("2 tracks, 1 files; 1 wrong: It is ….");
    expect(wrong.tracks[0]).to.deep.equal({
      title: null,
      files: [{ ...file, label: "the … mix", issues: ["It is …."] }],
      issues: [],
    });
    bench.files = [];
    const empty = await bench.run();
    expect(empty.steps.at(-1)?.detail).to.equal("The provider reported success without a track.");
  });
});
