import { expect } from "chai";
import { AuditTrail } from "../../../core/audit/audit-trail.js";
import { CollectAudio, type CollectionReport, LEFT_ALONE_MS } from "../../../core/maintenance/collect-audio.js";
import { OperateAudio } from "../../../core/maintenance/operate-audio.js";
import type { JobId } from "../../../core/ids.js";
import { aJob, anAsset, anId, aTrack } from "../../support/builders.js";
import { FaultyPort } from "../../support/doubles/faulty-port.js";
import { type MemoryCore, memoryCore } from "../../support/memory-core.js";

const NOTHING = { prefixes: 0, files: 0, bytes: 0 };

describe("Audio files that lost workers left behind", () => {
  let memory: MemoryCore;
  let ended: JobId;
  beforeEach(async () => {
    memory = await memoryCore();
    ended = await aJobThatIs("failed");
  });

  async function aJobThatIs(status: "failed" | "completed" | "processing"): Promise<JobId> {
    const job = aJob({ status });
    await memory.storage.inTransaction((tx) => memory.storage.jobs.insertJobs(tx, [job]));
    return job.id;
  }
  const put = (key: string, size = 10): Promise<unknown> => memory.audio.put(key, new Uint8Array(size), 1_000);
  const collecting = (given: Partial<ConstructorParameters<typeof CollectAudio>[0]> = {}): CollectAudio =>
    new CollectAudio({ ...memory.ports, ...given });
  const collect = (
    given: Partial<ConstructorParameters<typeof CollectAudio>[0]> = {},
    options: Partial<Parameters<CollectAudio["collect"]>[0]> = {},
  ): Promise<CollectionReport> => collecting(given).collect({ isDryRun: false, ...options });
  const later = (ms = LEFT_ALONE_MS + 1): Promise<void> => memory.clock.advance(ms);

  it("are deleted an hour after they were written, and no others", async () => {
    const [completed, alive] = [await aJobThatIs("completed"), await aJobThatIs("processing")];
    const [mix, stem] = [`${completed}/1/mix.mp3`, `${completed}/1/drums.wav`];
    const track = aTrack({ jobId: completed, assets: [anAsset({ audioKey: mix })] });
    await memory.storage.inTransaction(async (tx) => {
      await memory.storage.library.insertTracks(tx, [track]);
      const output = { label: "drums", audioKey: stem, contentType: "audio/wav", sizeBytes: 10, durationSeconds: 1 };
      await memory.storage.jobs.insertOutputs(tx, [{ jobId: completed, outputs: [output] }]);
    });
    const kept = [mix, stem, `${alive}/1/mix.mp3`, "import/mix.mp3", `${anId("job")}/1/mix.mp3`];
    const left = [`${ended}/1/cover.png`, `${ended}/1/mix.mp3`, `${completed}/2/mix.mp3`];
    for (const key of [...kept, ...left]) await put(key);
    await later();
    await put(`${ended}/2/late.mp3`, 3);
    expect(await collect()).to.deep.equal({
      isDryRun: false,
      listed: { prefixes: 5, files: 9, bytes: 83 },
      orphaned: { prefixes: 2, files: 3, bytes: 30 },
      deleted: { prefixes: 2, files: 3, bytes: 30 },
      failed: NOTHING,
      recent: { prefixes: 1, files: 1, bytes: 3 },
      unknown: { prefixes: 2, files: 2, bytes: 20 },
      next: null,
    });
    expect(memory.audio.keys).to.deep.equal([...kept, `${ended}/2/late.mp3`].sort());
  });

  it("are only found by a dry run", async () => {
    await put(`${ended}/1/mix.mp3`);
    await later();
    const found = await collect({}, { isDryRun: true });
    expect(found).to.deep.include({ isDryRun: true, orphaned: { prefixes: 1, files: 1, bytes: 10 }, deleted: NOTHING });
    expect(memory.audio.keys).to.have.length(1);
  });

  it("are kept for longer where the settings say so, and never for less than an hour", async () => {
    await put(`${ended}/1/mix.mp3`);
    await later();
    expect((await collect({ keptMs: 2 * LEFT_ALONE_MS })).recent.files).to.equal(1);
    expect((await collect({ keptMs: 1 })).deleted.files).to.equal(1);
  });

  it("of uploads that became no track are deleted, and those of uploads under way are not", async () => {
    const [lost, fresh] = [anId("trk"), anId("trk")];
    const account = await memory.storage.addAccount();
    const upload = { accountId: account.id, sizeBytes: 10, storedAt: null };
    await memory.storage.inTransaction((tx) =>
      memory.storage.uploads.insertUpload(tx, { ...upload, trackId: lost, createdAt: memory.clock.now() }),
    );
    for (const id of [lost, fresh]) await put(`${id}/mix.mp3`);
    await later();
    await memory.storage.inTransaction((tx) =>
      memory.storage.uploads.insertUpload(tx, { ...upload, trackId: fresh, createdAt: memory.clock.now() }),
    );
    await collect();
    expect(memory.audio.keys).to.deep.equal([`${fresh}/mix.mp3`]);
  });

  it("are gone through in parts, which go on behind the last key", async () => {
    for (const name of ["a", "b", "c"]) await put(`${ended}/1/${name}.mp3`);
    await later();
    const first = await collect({}, { filesMax: 2, isDryRun: true });
    expect([first.listed.files, first.next]).to.deep.equal([2, `${ended}/1/b.mp3`]);
    const rest = await collect({}, { after: first.next, filesMax: 2 });
    expect([rest.deleted.files, rest.next]).to.deep.equal([1, null]);
    expect(memory.audio.keys).to.have.length(2);
    expect(await collect({}, { filesMax: 0, after: "x" })).to.include({ next: "x" });
  });

  it("are compared with the storage in groups", async () => {
    for (let file = 0; file < 501; file++) await put(`${ended}/1/${file}.mp3`, 1);
    await later();
    let reads = 0;
    const jobs = new FaultyPort(memory.storage.jobs).on("findJobs", (find, ids) => {
      reads += 1;
      return find(ids);
    });
    const { deleted } = await collect({ jobs });
    expect([deleted, reads]).to.deep.equal([{ prefixes: 1, files: 501, bytes: 501 }, 2]);
  });

  it("that cannot be deleted are counted and logged once, and do not keep the others", async () => {
    for (const name of ["a", "b", "c"]) await put(`${ended}/1/${name}.mp3`);
    await later();
    const audio = new FaultyPort(memory.audio).on("delete", async (remove, key) => {
      if (!key.endsWith("b.mp3")) return remove(key);
      throw new Error("It is locked.");
    });
    const { deleted, failed, orphaned } = await collect({ audio });
    expect([orphaned.files, deleted.files, failed.files]).to.deep.equal([3, 2, 1]);
    expect(memory.logger.lines).to.have.length(1);
    expect(memory.logger.lines[0]).to.include({ level: "error", message: "Orphaned audio files could not be deleted" });
    expect(memory.logger.lines[0]?.fields).to.include({ files: 1, audio_key: `${ended}/1/b.mp3` });
  });

  it("are left where they are when the run is aborted, also in the middle of a list", async () => {
    for (const name of ["a", "b"]) await put(`${ended}/1/${name}.mp3`);
    await later();
    const aborted = AbortSignal.abort(new Error("stopped"));
    expect(String(await collect({}, { signal: aborted }).catch((error: unknown) => error))).to.include("stopped");
    const stopping = new AbortController();
    const audio = new FaultyPort(memory.audio).on("list", () => {
      queueMicrotask(() => stopping.abort(new Error("stopped")));
      return new Promise(() => undefined);
    });
    const hanging = collect({ audio }, { signal: stopping.signal });
    expect(String(await hanging.catch((error: unknown) => error))).to.include("stopped");
    const deleting = new AbortController();
    const slow = new FaultyPort(memory.audio).on("delete", (remove, key) => {
      queueMicrotask(() => deleting.abort(new Error("stopped")));
      return remove(key);
    });
    const broken = collect({ audio: slow }, { signal: deleting.signal });
    expect(String(await broken.catch((error: unknown) => error))).to.include("stopped");
    expect((await collect({}, { signal: new AbortController().signal })).next).to.equal(null);
  });

  it("are recorded before an operator deletes them, and not by a dry run", async () => {
    await put(`${ended}/1/mix.mp3`);
    await later();
    const audit = new AuditTrail({ ...memory.ports, actor: () => ({ name: "alice", why: null }) });
    const operate = new OperateAudio({ collectAudio: collecting(), audit });
    expect((await operate.collect({ isDryRun: true })).orphaned.files).to.equal(1);
    expect(await memory.storage.auditLog.list({ limit: 1 })).to.deep.equal([]);
    expect((await operate.collect({ isDryRun: false })).deleted.files).to.equal(1);
    const [record] = await memory.storage.auditLog.list({ limit: 1 });
    expect(record).to.deep.include({
      action: "audio.collect",
      accountId: null,
      targets: [],
      fields: { orphaned_files: 1, orphaned_bytes: 10 },
    });
  });
});
