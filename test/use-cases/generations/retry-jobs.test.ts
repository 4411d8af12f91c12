import { expect } from "chai";
import { OperationRefusedError, UnknownObjectError } from "../../../core/errors.js";
import { anId, aTrack } from "../../support/builders.js";
import { submitFails } from "../../support/doubles/scripted-provider.js";
import { memoryWorkers } from "../../support/memory-workers.js";

const failure = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error);

describe("Failed jobs", () => {
  it("are started once more, by what holds now, and once however often that is asked", async () => {
    const kit = await memoryWorkers();
    kit.provider.behaviour = submitFails("failed");
    const id = await kit.accept({
      lyrics: "la",
      duration: 42,
      instrumental: false,
      client: "studio",
      metadata: { order: 7 },
      options: { seed: 3 },
    });
    expect(String(await failure(kit.core.retryJobs.retry(id)))).to.include("is queued; a failed one is retried.");
    await kit.start();
    expect(await kit.job(id)).to.include({ status: "failed" });
    const retried = await kit.core.retryJobs.retry(id);
    expect(retried.isRepeated).to.equal(false);
    expect(await kit.core.retryJobs.retry(id)).to.deep.equal({ id: retried.id, isRepeated: true });
    expect((await kit.job(retried.id)).request).to.deep.equal((await kit.job(id)).request);
    const [record] = await kit.storage.auditLog.list({ limit: 1 });
    expect(record).to.deep.include({ action: "jobs.retry", targets: [id, retried.id], fields: { credits: 10 } });
    for (const unknown of ["nonsense", anId("job")])
      expect(await failure(kit.core.retryJobs.retry(unknown))).to.be.instanceOf(UnknownObjectError);
    kit.storage.sql("UPDATE fermata_jobs SET request = json_set(request, '$.prompt', '') WHERE id = ?", id);
    const forgotten = await failure(kit.core.retryJobs.retry(id));
    expect(forgotten).to.be.instanceOf(OperationRefusedError);
    expect(String(forgotten)).to.include("is not kept any more.");
  });

  it("that worked from a track use it again in the same way", async () => {
    const references = { extend: { sources: "any", takesStrength: true } } as const;
    const kit = await memoryWorkers({ model: { references } });
    kit.provider.behaviour = submitFails("failed");
    const track = aTrack({ accountId: kit.accountId });
    await kit.storage.inTransaction((tx) => kit.storage.library.insertTracks(tx, [track]));
    const id = await kit.accept({ reference: { trackId: track.id, mode: "extend", from: 3, strength: 0.5 } });
    await kit.start();
    const { id: again } = await kit.core.retryJobs.retry(id);
    expect((await kit.job(again)).request).to.deep.equal((await kit.job(id)).request);
  });

  it("that were splits are split again", async () => {
    const SPLITS = { stemSplit: { sources: "any" } } as const;
    const kit = await memoryWorkers({ capabilities: SPLITS, catalogue: SPLITS });
    kit.provider.behaviour = submitFails("failed");
    const track = aTrack({ accountId: kit.accountId });
    await kit.storage.inTransaction((tx) => kit.storage.library.insertTracks(tx, [track]));
    const split = { kind: "stem_split", accountId: kit.accountId, trackId: track.id } as const;
    const { id } = await kit.core.splits.start({ ...split, client: "studio", metadata: { order: 7 } });
    await kit.start();
    const retried = await kit.core.retryJobs.retry(id);
    expect(retried.isRepeated).to.equal(false);
    expect(await kit.core.retryJobs.retry(id)).to.deep.equal({ id: retried.id, isRepeated: true });
    expect((await kit.job(retried.id)).request).to.deep.equal((await kit.job(id)).request);
    kit.storage.sql("UPDATE fermata_jobs SET request = json_set(request, '$.sourceTrackId', NULL) WHERE id = ?", id);
    expect(String(await failure(kit.core.retryJobs.retry(id)))).to.include("is not known any more.");
  });
});
