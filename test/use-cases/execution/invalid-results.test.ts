import { expect } from "chai";
import type { Accepted, Completed, Snapshot } from "../../../core/ports/music-provider.js";
import { ProviderFailure } from "../../../core/ports/music-provider.js";
import { SCRIPTED_TRACK, submitAccepts } from "../../support/doubles/scripted-provider.js";
import { memoryWorkers, type MemoryWorkers } from "../../support/memory-workers.js";

const SECOND = 1_000;
const DONE: Completed = { state: "completed", tracks: [SCRIPTED_TRACK] };

/** What a plugin returns that is not what its type says. */
const returns =
  <Result>(result: object) =>
  (): Promise<Result> =>
    Promise.resolve(result as Result);

/** Messages of the errors in the log. */
const logged = ({ logger }: MemoryWorkers, message: string): readonly string[] =>
  logger.lines
    .filter((line) => line.message === message)
    .map(({ fields }) => (fields["error"] as Error | undefined)?.message ?? "");

describe("A result that is none of the port's", () => {
  it("from poll is polled again and delivered, bought once, and the log names the member", async () => {
    const kit = await memoryWorkers();
    kit.provider.behaviour = submitAccepts(SECOND);
    kit.provider.pollBehaviour = returns<Snapshot>({ status: "done" });
    const id = await kit.accept();
    await kit.start();
    await kit.pass(SECOND);
    expect(await kit.job(id)).to.include({ phase: "rendering", crashes: 0, leaseOwner: null });
    expect(logged(kit, "A poll failed")).to.deep.equal([
      "The plugin scripted returned from poll what the host cannot use: state: missing; allowed: running, completed.",
    ]);
    kit.provider.pollBehaviour = returns<Snapshot>(DONE);
    await kit.pass(5 * SECOND);
    expect(await kit.job(id)).to.include({ status: "completed", attempt: 1 });
    expect(kit.provider.submissions).to.have.length(1);
  });

  it("from submit has an unknown outcome: it is not submitted again, and refunded after the grace time", async () => {
    const kit = await memoryWorkers({ jobs: { unknownGraceMs: 120 * SECOND } });
    kit.provider.behaviour = returns<Accepted>({ state: "done", tracks: [] });
    const id = await kit.accept();
    await kit.start();
    expect(await kit.job(id)).to.include({ status: "processing", phase: "submitting", crashes: 0 });
    const words =
      'The plugin scripted returned from submit what the host cannot use: state: "done"; allowed: accepted, completed.';
    expect(logged(kit, "A submission failed")).to.deep.equal([words]);
    expect((await kit.attempts(id))[0]).to.include({ outcome: "outcome_unknown", message: words });
    await kit.pass(150 * SECOND);
    expect(await kit.job(id)).to.include({ status: "failed", creditsCharged: 0 });
    expect(await kit.entries(id)).to.deep.equal(["reserve", "refund"]);
    expect(kit.provider.submissions).to.have.length(1);
  });

  it("as a failure of no known kind has an unknown outcome, too, and the log names what is allowed", async () => {
    const kit = await memoryWorkers();
    kit.provider.behaviour = () => Promise.reject(new ProviderFailure("on_fire" as never, "It burns."));
    const id = await kit.accept();
    await kit.start();
    expect((await kit.attempts(id))[0]).to.include({ state: "unknown" });
    expect(logged(kit, "A submission failed")[0]).to.include('kind of the failure: "on_fire"; allowed: ');
  });

  it("in one file is delivered without it, and the log names the file's member", async () => {
    const kit = await memoryWorkers();
    const [mix, ...others] = SCRIPTED_TRACK.assets;
    const wrong = { role: "stem", label: "drums", contentType: null, durationSeconds: null, source: { kind: "link" } };
    const track = { ...SCRIPTED_TRACK, assets: [mix, wrong, ...others] };
    kit.provider.behaviour = returns<Completed>({ ...DONE, tracks: [track] });
    const id = await kit.accept();
    await kit.start();
    expect(await kit.job(id)).to.include({ status: "completed", creditsCharged: 10 });
    const line = kit.logger.lines.find(({ message }) => message.startsWith("A plugin returned wrong members"));
    expect(line?.fields).to.deep.include({
      provider: "scripted",
      call: "submit",
      issues: ['tracks[0].assets[1].source.kind: "link"; allowed: bytes, stream, text, url, archive'],
    });
  });
});
