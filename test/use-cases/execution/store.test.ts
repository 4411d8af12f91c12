import { expect } from "chai";
import { type Completed, ProviderFailure } from "../../../core/ports/music-provider.js";
import { FaultyPort } from "../../support/doubles/faulty-port.js";
import {
  SCRIPTED_AUDIO,
  SCRIPTED_TRACK,
  submitAccepts,
  submitHolds,
  submitCompletes,
} from "../../support/doubles/scripted-provider.js";
import { memoryWorkers, type MemoryWorkers, type MemoryWorkersOptions } from "../../support/memory-workers.js";

const SECOND = 1_000;
const LINK = "https://files.example/a.mp3";
/** Completed, with one file behind a link. */
const LINKED: Completed = {
  state: "completed",
  tracks: [
    {
      ...SCRIPTED_TRACK,
      assets: [
        {
          role: "mix",
          label: "full",
          contentType: "audio/mpeg",
          durationSeconds: 30,
          source: { kind: "url", url: LINK },
        },
      ],
    },
  ],
  cost: { amount: 0.25, unit: "USD" },
};

/** A provider that accepts work and is polled every second. */
async function accepting(given: MemoryWorkersOptions = {}): Promise<MemoryWorkers> {
  const kit = await memoryWorkers(given);
  kit.provider.behaviour = submitAccepts(SECOND);
  return kit;
}

describe("A finished result", () => {
  it("behind a link is recorded before it is fetched, and stored", async () => {
    const kit = await accepting();
    kit.links.set(LINK, SCRIPTED_AUDIO);
    kit.provider.pollBehaviour = () => Promise.resolve(LINKED);
    const id = await kit.accept();
    await kit.start();
    await kit.pass(SECOND);
    expect(await kit.job(id)).to.include({ status: "completed" });
    expect(kit.audio.keys.filter((key) => key.startsWith(`${id}/`)).length).to.be.above(0);
    expect((await kit.attempts(id))[0]).to.deep.include({ state: "settled", result: null, cost: LINKED.cost });
  });

  it("of a submission is fetched by another step when the link cannot be had at first", async () => {
    const kit = await memoryWorkers();
    kit.links.set(LINK, new ProviderFailure("unavailable", "not now"));
    kit.provider.behaviour = () => Promise.resolve(LINKED);
    const id = await kit.accept();
    await kit.start();
    await kit.pass(10 * SECOND);
    expect((await kit.attempts(id))[0]).to.include({ state: "finished" });
    expect(await kit.job(id)).to.include({ status: "processing" });
    kit.links.set(LINK, SCRIPTED_AUDIO);
    await kit.pass(60 * SECOND);
    expect(await kit.job(id)).to.include({ status: "completed" });
    expect(kit.provider.submissions).to.have.length(1);
    expect(kit.messages()).to.include("The audio of a job could not be stored; trying again");
  });

  it("whose link is dead is asked for again, then refunded as billed", async () => {
    const kit = await memoryWorkers();
    kit.provider.behaviour = () => Promise.resolve(LINKED);
    const id = await kit.accept();
    await kit.start();
    await kit.pass(120 * SECOND);
    expect(await kit.job(id)).to.include({ status: "failed", creditsCharged: 0 });
    expect((await kit.attempts(id))[0]).to.deep.include({
      state: "failed",
      loss: "files_lost",
      billable: "yes",
      cost: LINKED.cost,
    });
    const fields = kit.fieldsOf("A provider's result could not be stored");
    expect(fields).to.include({ provider: "scripted", again: "link" });
    expect(fields["error"]).to.include({ kind: "gone" });
    expect(kit.audio.keys).to.deep.equal([]);
  });

  it("in the memory of the worker alone is retried for minutes, and refunded when it cannot be stored", async () => {
    let isBroken = true;
    const kit = await memoryWorkers();
    const put = kit.audio.put.bind(kit.audio);
    kit.audio.put = (...given) => (isBroken ? Promise.reject(new Error("the disk is full")) : put(...given));
    const id = await kit.accept();
    await kit.start();
    expect((await kit.attempts(id))[0]).to.include({ state: "finished", handle: null });
    isBroken = false;
    await kit.pass(10 * SECOND);
    expect(await kit.job(id)).to.include({ status: "completed" });
    isBroken = true;
    const other = await kit.accept();
    await kit.pass(15 * 60 * SECOND);
    expect(await kit.job(other)).to.include({ status: "failed" });
    expect((await kit.attempts(other))[0]).to.include({ loss: "files_lost" });
    expect(kit.provider.submissions).to.have.length(2);
  });

  it("with files that cannot be had is stored without them, and says which", async () => {
    const kit = await memoryWorkers();
    const [mix, , , cover] = SCRIPTED_TRACK.assets;
    const broken = { ...cover, source: { kind: "url", url: "https://files.example/gone.png" } };
    const track = { ...SCRIPTED_TRACK, assets: [mix, broken] } as typeof SCRIPTED_TRACK;
    kit.provider.behaviour = () => Promise.resolve({ state: "completed", tracks: [track] });
    const id = await kit.accept();
    await kit.start();
    expect(await kit.job(id)).to.include({ status: "completed" });
    expect((await kit.attempts(id))[0]?.message).to.include("cover");
    const { missing } = kit.fieldsOf("Some files of a provider's result could not be stored");
    expect(missing).to.have.length(1);
  });

  it("that the port does not allow leaves the outcome of the submission open", async () => {
    const kit = await memoryWorkers();
    kit.provider.behaviour = () => Promise.resolve({ state: "nonsense" } as never);
    const id = await kit.accept();
    await kit.start();
    expect((await kit.attempts(id))[0]).to.include({ state: "unknown" });
    expect(await kit.job(id)).to.include({ phase: "submitting" });
  });

  it("that is stored is kept with the attempt while the job cannot be settled", async () => {
    let isBroken = true;
    const kit = await memoryWorkers({
      ports: ({ library }) => ({
        library: new FaultyPort(library).failOn(
          "insertTracks",
          () => new Error("a bug"),
          () => isBroken,
        ),
      }),
    });
    const id = await kit.accept();
    await kit.start();
    expect((await kit.attempts(id))[0]).to.include({ state: "stored" });
    expect(await kit.job(id)).to.include({ status: "processing", crashes: 1 });
    const files = kit.audio.keys;
    isBroken = false;
    await kit.pass(60 * SECOND);
    expect(await kit.job(id)).to.include({ status: "completed" });
    expect(kit.audio.keys).to.deep.equal(files);
    expect(kit.provider.submissions).to.have.length(1);
  });

  it("survives an outage of the storage: its report is sent until it is written", async () => {
    const kit = await memoryWorkers();
    const held = submitHolds();
    kit.provider.behaviour = held.behaviour;
    const id = await kit.accept();
    await kit.start();
    kit.outage.isOn = true;
    held.release();
    await kit.pass(20 * SECOND);
    const fields = kit.fieldsOf("The storage is unavailable; the report is sent again");
    expect(fields).to.include({ event: "finished" });
    expect(fields["error"]).to.include({ name: "ServiceUnavailableError" });
    kit.outage.isOn = false;
    await kit.pass(60 * SECOND);
    expect(await kit.job(id)).to.include({ status: "completed", attempt: 1 });
  });

  it("of a cancelled job is deleted again", async () => {
    const kit = await memoryWorkers();
    const put = kit.audio.put.bind(kit.audio);
    let cancel: (() => Promise<unknown>) | null = null;
    kit.audio.put = async (...given) => {
      const [once, stored] = [cancel, await put(...given)];
      cancel = null;
      await once?.();
      return stored;
    };
    const id = await kit.accept();
    cancel = () => kit.core.jobs.cancel(id, { force: true });
    await kit.start();
    await kit.pass(5 * SECOND);
    expect(await kit.job(id)).to.include({ status: "failed", creditsCharged: 0 });
    expect(kit.audio.keys).to.deep.equal([]);
    expect((await kit.attempts(id))[0]).to.include({ state: "abandoned", billable: "yes" });
  });
});

describe("Files of several tries", () => {
  it("leave those of the last one alone", async () => {
    const kit = await memoryWorkers({ capabilities: { idempotentSubmit: true } });
    let puts = 0;
    const put = kit.audio.put.bind(kit.audio);
    kit.audio.put = (...given) => (++puts === 2 ? Promise.reject(new Error("the disk is full")) : put(...given));
    kit.provider.behaviour = submitCompletes;
    const id = await kit.accept();
    await kit.start();
    await kit.pass(60 * SECOND);
    const after = await kit.job(id);
    expect(after).to.include({ status: "completed" });
    const tracks = (await kit.storage.library.tracksOfJobs([id])).get(id) ?? [];
    const keys = tracks.flatMap(({ assets }) => assets.map(({ audioKey }) => audioKey));
    expect(kit.audio.keys).to.deep.equal(keys.sort());
  });
});
