import { utimes } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { LocalAudioStore } from "../../../adapters/audio/local/audio-store.js";
import type { AuditEntry } from "../../../core/ports/audit-record.js";
import type { JobId } from "../../../core/ids.js";
import { type AudioAmount, CollectAudio, type CollectionReport } from "../../../core/maintenance/collect-audio.js";
import { OperateAudio } from "../../../core/maintenance/operate-audio.js";
import type { AssetOpener } from "../../../core/ports/asset-opener.js";
import { aJob, anAsset, anId, aTrack } from "../../support/builders.js";
import { temporaryFolder } from "../../support/databases.js";
import { ManualClock } from "../../support/doubles/manual-clock.js";
import { until, WorkerHarness } from "./worker-harness.js";

const HOUR_MS = 3_600_000;
const SIZE = 10;

describe("Orphaned audio files", () => {
  let harness: WorkerHarness;
  beforeEach(async () => {
    harness = await WorkerHarness.open();
  });
  afterEach(() => harness.close());

  describe("of a killed worker whose job was then cancelled", () => {
    it("are deleted by the maintenance after an hour, and no other files", async () => {
      const completed = await harness.acceptOne();
      const worker = await harness.start();
      await harness.quiet();
      const kept = await harness.expectCompleted(completed).then(() => harness.files());
      await worker.stop();

      const killed = await harness.acceptOne();
      let stored = 0;
      const opener: AssetOpener = {
        open: async (_source, { signal }) => {
          if (stored++ === 0)
            return {
              contentType: "audio/mpeg",
              bytes: (async function* () {
                yield Buffer.alloc(SIZE);
              })(),
            };
          // The worker is killed here: its clock stands still until the end of the test.
          return new Promise((_resolve, reject) =>
            signal.addEventListener("abort", () => reject(signal.reason as Error)),
          );
        },
        close: () => Promise.resolve(),
      };
      await harness.start({ opener, clock: new ManualClock(harness.clock.now()) });
      await until("its first file is stored", () => stored === 2);
      const { operate, maintenance } = harness.prepare();
      await operate.cancel(killed, { force: true });
      const left = [...kept, `${killed}/1/0-mix.mp3`].sort();
      expect(await harness.files()).to.deep.equal(left);

      // The files have the machine's time.
      harness.clock.set(Date.now() + HOUR_MS - 60_000);
      await maintenance.runOnce();
      expect(await harness.files()).to.deep.equal(left);
      harness.clock.set(Date.now() + HOUR_MS + 1_000);
      await maintenance.runOnce();
      expect(await harness.files()).to.deep.equal(kept);
      expect(
        harness.logger.lines.filter(({ fields }) => fields["task"] === "collect-audio").map(({ fields }) => fields),
      ).to.deep.equal([{ task: "collect-audio", prefixes: 1, files: 1, bytes: SIZE }]);
    });
  });

  describe("are distinguished from others", () => {
    let root: string;
    let audio: LocalAudioStore;
    let clock: ManualClock;
    beforeEach(async () => {
      root = await temporaryFolder();
      audio = await LocalAudioStore.open(root);
      clock = new ManualClock(Date.now() + 2 * HOUR_MS);
    });

    const collector = (): CollectAudio => {
      const { jobs, library, uploads } = harness.storage;
      return new CollectAudio({ audio, jobs, library, uploads, clock, logger: harness.logger });
    };
    const put = async (...keys: readonly string[]): Promise<void> => {
      for (const key of keys) await audio.put(key, Buffer.alloc(SIZE), SIZE);
    };
    const keys = async (): Promise<string[]> => (await audio.list(null, 100_000)).map(({ key }) => key);
    /** A job that has ended, or has not. */
    const addJob = async (
      phase: "ended" | "rendering",
      status: "completed" | "failed" | "processing",
    ): Promise<JobId> => {
      const job = aJob({ accountId: harness.accountId, phase, status });
      await harness.storage.inTransaction((tx) => harness.storage.jobs.insertJobs(tx, [job]));
      jobs.push(job.id);
      return job.id;
    };
    const jobs: JobId[] = [];
    // They have no credits reserved, and the audit would report them at the end.
    afterEach(async () => {
      await harness.storage.database.write("fermata_jobs").whereIn("id", jobs.splice(0)).delete();
      for (const table of ["fermata_tracks", "fermata_track_assets", "fermata_job_outputs"])
        await harness.storage.database.write(table).delete();
    });
    const amount = (prefixes: number, files: number): AudioAmount => ({ prefixes, files, bytes: files * SIZE });
    const NONE = amount(0, 0);

    /** Files of every kind. @returns those to keep, and those to delete */
    async function everyKind(): Promise<{
      readonly stay: string[];
      readonly go: string[];
      readonly recent: string;
      readonly unknown: string[];
    }> {
      const [done, split, failed, alive] = [
        await addJob("ended", "completed"),
        await addJob("ended", "completed"),
        await addJob("ended", "failed"),
        await addJob("rendering", "processing"),
      ];
      const imported = anId("trk");
      const named = [`${done}/2/0-mix.mp3`, `${done}/2/0-preview.mp3`, `${done}/2/0-cover.png`];
      const ofOthers = `${failed}/1/1-mix.mp3`;
      const output = {
        label: "vocals",
        audioKey: `${split}/1/0-stem-vocals.mp3`,
        contentType: "audio/mpeg",
        sizeBytes: SIZE,
        durationSeconds: null,
      };
      await harness.storage.inTransaction(async (tx) => {
        const { library } = harness.storage;
        await library.insertTracks(tx, [
          aTrack({ jobId: done, assets: named.map((audioKey) => anAsset({ audioKey })) }),
          aTrack({ id: imported, assets: [anAsset({ audioKey: `${imported}/mix.mp3` })] }),
          // A track with a file of another job.
          aTrack({ assets: [anAsset({ audioKey: ofOthers })] }),
        ]);
        await harness.storage.jobs.insertOutputs(tx, [{ jobId: split, outputs: [output] }]);
      });
      const unknown = [`${anId("job")}/1/0-mix.mp3`, `${anId("trk")}/mix.mp3`, "backup/old.mp3"];
      const recent = `${failed}/3/0-mix.mp3`;
      const stay = [
        ...named,
        output.audioKey,
        ofOthers,
        `${imported}/mix.mp3`,
        `${alive}/1/0-mix.mp3`,
        recent,
        ...unknown,
      ].sort();
      const go = [
        `${done}/1/0-mix.mp3`,
        `${done}/1/0-cover.png`,
        `${done}/2/1-mix.mp3`,
        `${failed}/1/0-mix.mp3`,
        `${split}/2/0-stem-vocals.mp3`,
      ].sort();
      await put(...stay, ...go);
      const minutesAgo = new Date(clock.now() - HOUR_MS + 60_000);
      await utimes(join(root, recent), minutesAgo, minutesAgo);
      return { stay, go, recent, unknown };
    }

    it("by references from tracks and outputs, by their jobs and by their age", async () => {
      const { stay, go } = await everyKind();
      const before = await keys();
      const dry = await collector().collect({ isDryRun: true });
      expect(await keys()).to.deep.equal(before);
      const found: Omit<CollectionReport, "isDryRun" | "deleted" | "next"> = {
        listed: amount(8, stay.length + go.length),
        orphaned: amount(3, 5),
        failed: NONE,
        recent: amount(1, 1),
        unknown: amount(3, 3),
      };
      expect(dry).to.deep.equal({ ...found, isDryRun: true, deleted: NONE, next: null });
      const report = await collector().collect({ isDryRun: false });
      expect(report).to.deep.equal({ ...found, isDryRun: false, deleted: amount(3, 5), next: null });
      expect(await keys()).to.deep.equal(stay);
      expect((await collector().collect({ isDryRun: false })).orphaned).to.deep.equal(NONE);
    });

    it("before any deletion: an operator's run that cannot be recorded deletes nothing", async () => {
      const { go } = await everyKind();
      const before = await keys();
      let isFull = true;
      const entries: AuditEntry[] = [];
      const note = (entry: AuditEntry): Promise<void> => {
        entries.push(entry);
        return isFull ? Promise.reject(new Error("The disk is full.")) : Promise.resolve();
      };
      const operate = new OperateAudio({ collectAudio: collector(), audit: { note } });
      const error = await operate.collect({ isDryRun: false }).catch((cause: unknown) => cause);
      expect((error as Error).message).to.equal("The disk is full.");
      expect(await keys()).to.deep.equal(before);
      isFull = false;
      expect((await operate.collect({ isDryRun: false })).deleted.files).to.equal(go.length);
      expect(entries.map(({ fields }) => fields)).to.deep.equal(
        Array(2).fill({ orphaned_files: go.length, orphaned_bytes: go.length * SIZE }),
      );
    });

    it("part by part: a run continues where the previous one ended", async () => {
      const job = await addJob("ended", "failed");
      const orphans = Array.from({ length: 7 }, (_, index) => `${job}/1/${index}.mp3`);
      await put(...orphans);
      const first = await collector().collect({ isDryRun: false, filesMax: 5 });
      expect([first.deleted, first.next]).to.deep.equal([amount(1, 5), orphans[4]]);
      const second = await collector().collect({ isDryRun: false, filesMax: 5, after: first.next });
      expect([second.deleted, second.next, await keys()]).to.deep.equal([amount(1, 2), null, []]);
    });

    it("group by group, and page by page", async () => {
      const job = await addJob("ended", "failed");
      const many = Array.from({ length: 12_345 }, (_, index) => {
        return { key: `${job}/1/${String(index).padStart(5, "0")}.mp3`, sizeBytes: SIZE, modifiedAt: 0 };
      });
      const gone = new Set<string>();
      audio.list = async (after, limit) => many.filter(({ key }) => after === null || key > after).slice(0, limit);
      audio.delete = async (key) => void gone.add(key);
      const { deleted, next } = await collector().collect({ isDryRun: false });
      expect([deleted, next, gone.size]).to.deep.equal([amount(1, many.length), null, many.length]);
    });

    it("even when some cannot be deleted: the others are deleted, and the log has the reason", async () => {
      const job = await addJob("ended", "failed");
      await put(...["a", "b", "c"].map((name) => `${job}/1/${name}.mp3`));
      const remove = audio.delete.bind(audio);
      audio.delete = (key) =>
        key.endsWith("b.mp3") ? Promise.reject(new Error("scripted: it is locked")) : remove(key);
      const { orphaned, deleted, failed } = await collector().collect({ isDryRun: false });
      expect([orphaned, deleted, failed]).to.deep.equal([amount(1, 3), amount(1, 2), amount(1, 1)]);
      expect(await keys()).to.deep.equal([`${job}/1/b.mp3`]);
      expect(harness.logger.lines.map(({ level, fields }) => [level, fields["audio_key"]])).to.deep.equal([
        ["error", `${job}/1/b.mp3`],
      ]);
    });

    it("until it is stopped: a store that does not respond does not delay the stop", async () => {
      await addJob("ended", "failed");
      const stopping = new AbortController();
      audio.list = () => new Promise(() => undefined);
      const collecting = collector().collect({ isDryRun: false, signal: stopping.signal });
      stopping.abort();
      expect(await collecting.catch((error: unknown) => error)).to.equal(stopping.signal.reason);
    });
  });
});
