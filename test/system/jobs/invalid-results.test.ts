import { expect } from "chai";
import type { Accepted, Completed, Snapshot } from "../../../core/ports/music-provider.js";
import { SCRIPTED_TRACK, submitAccepts } from "../../support/doubles/scripted-provider.js";
import { COST, GRACE_MS, WorkerHarness } from "./worker-harness.js";

const DONE: Completed = { state: "completed", tracks: [SCRIPTED_TRACK] };

/** What a plugin in JavaScript returns, where no compiler has a say. */
const returns =
  <Result>(result: unknown): (() => Promise<Result>) =>
  () =>
    Promise.resolve(result as Result);

describe("A job whose plugin returns what the port does not allow", () => {
  let harness: WorkerHarness;
  beforeEach(async () => {
    harness = await WorkerHarness.open();
  });
  afterEach(() => harness.close());

  /** Messages of the errors in the log. */
  const logged = (message: string): readonly string[] =>
    harness.logger.lines
      .filter((line) => line.message === message)
      .map(({ fields }) => (fields["error"] as Error | undefined)?.message ?? "");

  it("from poll is polled again and delivered, bought once, and the log names the member", async () => {
    harness.provider.behaviour = submitAccepts(1_000);
    harness.provider.pollBehaviour = returns<Snapshot>({ status: "done" });
    const id = await harness.acceptOne();
    await harness.start();
    await harness.pass(1_000);
    expect(await harness.job(id)).to.include({ phase: "rendering", crashes: 0, dueAt: harness.clock.now() + 1_500 });
    expect(logged("A poll failed")).to.deep.equal([
      "The plugin scripted returned from poll what the host cannot use: state: missing; allowed: running, completed.",
    ]);
    harness.provider.pollBehaviour = returns<Snapshot>(DONE);
    await harness.pass(1_500);
    await harness.expectCompleted(id);
    expect(harness.provider.submissions).to.have.length(1);
  });

  it("from submit has an unknown outcome: it is not submitted again, and refunded after the grace time", async () => {
    harness.provider.behaviour = returns<Accepted>({ state: "done", tracks: [] });
    const id = await harness.acceptOne();
    await harness.start();
    await harness.quiet();
    expect(await harness.job(id)).to.include({ status: "processing", phase: "submitting", crashes: 0 });
    const words =
      'The plugin scripted returned from submit what the host cannot use: state: "done"; allowed: accepted, completed.';
    expect(logged("A submission failed")).to.deep.equal([words]);
    expect((await harness.storage.jobs.listAttempts(id))[0]).to.include({ outcome: "outcome_unknown", message: words });
    await harness.pass(GRACE_MS);
    await harness.expectFailed(id, "provider_timeout");
    expect(harness.provider.submissions).to.have.length(1);
    expect(await harness.storage.balanceOf(harness.accountId)).to.include({ spent: 0, reservedMonthly: 0 });
  });

  it("in one file is delivered without it, and the log names the file's member", async () => {
    const [mix, ...others] = SCRIPTED_TRACK.assets;
    const wrong = { role: "stem", label: "drums", contentType: null, durationSeconds: null, source: { kind: "link" } };
    const track = { ...SCRIPTED_TRACK, assets: [mix, wrong, ...others] };
    harness.provider.behaviour = returns<Completed>({ ...DONE, tracks: [track] });
    const id = await harness.acceptOne();
    await harness.start();
    await harness.quiet();
    await harness.expectCompleted(id);
    expect(await harness.storage.balanceOf(harness.accountId)).to.include({ spent: COST });
    const line = harness.logger.lines.find(({ message }) => message.startsWith("A plugin returned wrong members"));
    expect(line?.fields).to.deep.include({
      provider: "scripted",
      call: "submit",
      issues: ['tracks[0].assets[1].source.kind: "link"; allowed: bytes, stream, text, url, archive'],
    });
  });
});
