import { expect } from "chai";
import type { JobId } from "../../../core/ids.js";
import { ProviderFailure } from "../../../core/ports/music-provider.js";
import { FaultyPort } from "../../support/doubles/faulty-port.js";
import { SCRIPTED_AUDIO, SCRIPTED_TRACK, submitAccepts } from "../../support/doubles/scripted-provider.js";
import { memoryWorkers, type MemoryWorkers, type MemoryWorkersOptions } from "../../support/memory-workers.js";

const SECOND = 1_000;
const LINK = "https://files.example/a.mp3";
const MIX = { role: "mix", label: "full", contentType: "audio/mpeg", durationSeconds: 30 } as const;
const LINKED = {
  state: "completed",
  tracks: [{ ...SCRIPTED_TRACK, assets: [{ ...MIX, source: { kind: "url", url: LINK } }] }],
} as const;
const PLAIN = "The files of a job are stored without derived files: workers were lost while deriving them";

interface Listening extends MemoryWorkers {
  /** At each analysis, how many collections of the job had begun by then. */
  readonly begun: (number | undefined)[];
}

async function listening(given: MemoryWorkersOptions = {}): Promise<Listening> {
  const begun: (number | undefined)[] = [];
  let id: JobId | null = null;
  const kit: MemoryWorkers = await memoryWorkers({
    ...given,
    ports: (storage) => ({
      audioAnalyser: {
        analyse: async () => {
          begun.push(id === null ? undefined : (await kit.job(id)).collectionsBegun);
          return null;
        },
        close: () => Promise.resolve(),
      },
      ...given.ports?.(storage),
    }),
  });
  const accept: MemoryWorkers["accept"] = async (input) => (id = await kit.accept(input));
  return { ...kit, accept, begun };
}

/** The same with a provider whose polls return a link to this. */
async function listeningBehind(opened: Uint8Array | Error): Promise<Listening> {
  const kit = await listening();
  kit.provider.behaviour = submitAccepts(SECOND);
  kit.provider.pollBehaviour = () => Promise.resolve(LINKED);
  kit.links.set(LINK, opened);
  return kit;
}

describe("The collection of a job's files", () => {
  it("is recorded with the result that a poll returns, before its audio is analysed", async () => {
    const kit = await listeningBehind(SCRIPTED_AUDIO);
    const id = await kit.accept();
    await kit.start();
    await kit.pass(SECOND);
    expect(await kit.job(id)).to.include({ status: "completed" });
    expect(kit.begun).to.deep.equal([1]);
  });

  it("is recorded by itself where the same call brings the result again", async () => {
    const kit = await listening({ capabilities: { idempotentSubmit: true } });
    const id = await kit.accept();
    await kit.start();
    expect(await kit.job(id)).to.include({ status: "completed" });
    expect(kit.begun).to.deep.equal([1]);
  });

  it("is no more under way once the files could not be had, and is recorded again with the next try", async () => {
    const kit = await listeningBehind(new ProviderFailure("unavailable", "not now"));
    const id = await kit.accept();
    await kit.start();
    for (let tries = 0; tries < 4; tries++) {
      await kit.pass(30 * SECOND);
      expect(await kit.job(id)).to.include({ status: "processing", collectionsBegun: 0, leaseOwner: null });
    }
    kit.links.set(LINK, SCRIPTED_AUDIO);
    await kit.pass(60 * SECOND);
    expect(await kit.job(id)).to.include({ status: "completed" });
    expect(kit.begun).to.deep.equal([1]);
    expect(kit.messages()).not.to.include(PLAIN);
  });

  for (const { lost, analyses } of [
    { lost: 1, analyses: [2] },
    { lost: 2, analyses: [] },
  ]) {
    it(`analyses ${analyses.length} files after ${lost} workers were lost with it`, async () => {
      const kit = await listeningBehind(SCRIPTED_AUDIO);
      const id = await kit.accept();
      await kit.start();
      kit.storage.sql("UPDATE fermata_jobs SET collections_begun = ? WHERE id = ?", lost, id);
      await kit.pass(SECOND);
      expect(await kit.job(id)).to.include({ status: "completed" });
      expect(kit.begun).to.deep.equal(analyses);
      const warned = kit.logger.lines.filter(({ message }) => message === PLAIN);
      expect(warned.map(({ fields }) => fields["times"])).to.deep.equal(analyses.length === 0 ? [lost] : []);
    });
  }

  it("that cannot be recorded stores the files without analysis: they are paid", async () => {
    const kit = await listening({
      capabilities: { idempotentSubmit: true },
      ports: ({ jobs }) => ({
        jobs: new FaultyPort(jobs).on("updateJobs", async (update, tx, updates) => {
          if (updates.some(({ changes }) => changes.collectionsBegun === 1)) throw new Error("a bug");
          return update(tx, updates);
        }),
      }),
    });
    const id = await kit.accept();
    await kit.start();
    expect(await kit.job(id)).to.include({ status: "completed" });
    expect(kit.begun).to.deep.equal([]);
    const message = "The start of a file collection could not be recorded; the files are stored without analysis";
    expect(kit.fieldsOf(message)["error"]).to.include({ message: "a bug" });
  });
});
