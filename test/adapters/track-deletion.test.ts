import { expect } from "chai";
import { createAudit } from "../../core/audit/create-audit.js";
import { InputRefusedError, TrackNotFoundError } from "../../core/errors.js";
import type { AccountId, TrackId } from "../../core/ids.js";
import type { Job, JobOutput } from "../../core/jobs/job.js";
import { DeleteFiles, OWN_DELETION_MS } from "../../core/library/delete-files.js";
import { ManageLibrary } from "../../core/library/manage-library.js";
import type { CorePorts } from "../../core/ports/core-ports.js";
import { NodeDigest } from "../../adapters/crypto/digest.js";
import { aJob, aJobRequest, anAsset, anAttempt, anId, aPlaylist, aTrack, NOON } from "../support/builders.js";
import { corePorts } from "../support/core-ports.js";
import { sqliteStorage, type SqliteUnderTest } from "../support/databases.js";
import { ManualClock } from "../support/doubles/manual-clock.js";
import { MemoryAudioStore } from "../support/doubles/memory-audio-store.js";
import { mysqlStorage, type MysqlUnderTest } from "../support/mysql.js";
import { columnsWith, dump, indexAll, losing } from "./stored-words.js";

const ENDED = { status: "completed", phase: "ended", dueAt: null, completedAt: NOON } as const;

/** What an account has: a generation with two tracks, a split of the first one, an upload. */
interface Made {
  /** Every word of it that is the account's own. */
  readonly secret: string;
  readonly owner: AccountId;
  readonly generation: Job;
  readonly split: Job;
  readonly tracks: readonly [TrackId, TrackId];
  readonly uploaded: TrackId;
}

for (const kind of [sqliteStorage, mysqlStorage]) {
  describe(`Deleting a track: ${kind.name}`, () => {
    let storage: SqliteUnderTest | MysqlUnderTest;
    let clock: ManualClock;
    let audio: MemoryAudioStore;
    let made: Made;
    let times = 100;
    before(async () => {
      storage = await kind.open();
    });
    after(() => storage.close());
    beforeEach(async () => {
      clock = new ManualClock();
      audio = new MemoryAudioStore(clock);
      made = await fill();
      await indexAll(storage.database);
    });
    afterEach(() => sweep());

    const manage = (given: Partial<CorePorts> = {}, alone: Partial<DeleteFiles> = {}): ManageLibrary => {
      const ports = { ...corePorts(storage, { clock, audio }), ...given, digest: new NodeDigest() };
      const deletedFiles = Object.assign(new DeleteFiles(ports), alone);
      return new ManageLibrary({ ...ports, audit: createAudit(ports, { actor: "test" }).trail, deletedFiles });
    };
    /** What a process that works on jobs does every few seconds. */
    async function sweep(): Promise<void> {
      await clock.advance(OWN_DELETION_MS);
      await new DeleteFiles(corePorts(storage, { clock, audio })).task().run(new AbortController().signal);
    }
    const wordsLeft = async (): Promise<string[]> => columnsWith(await dump(storage.database), [made.secret]);
    const fileRows = async (): Promise<number> =>
      (await storage.database.all("SELECT audio_key FROM {file_deletions}")).length;
    const filesOf = (...ids: readonly string[]): string[] =>
      audio.keys.filter((key) => ids.some((id) => key.startsWith(`${id}/`)));

    async function fill(): Promise<Made> {
      const { id: owner } = await storage.addAccount();
      const secret = `zanzibar${++times}`;
      const request = aJobRequest({ prompt: secret, lyrics: secret, metadata: { a: secret }, options: { b: secret } });
      const generation = aJob({ ...ENDED, accountId: owner, request });
      const uploaded = anId("trk");
      const trackOf = (id: TrackId, jobId: Job["id"] | null, position: number, audioKey: string) => ({
        ...aTrack({ id, accountId: owner, jobId, position, title: secret, prompt: secret }),
        ...{ assets: [anAsset({ audioKey })], tags: { mood: [secret], activity: [], genre: [], other: [] } },
        lyrics: { text: secret, words: null },
      });
      const tracks = [anId("trk"), anId("trk")] as const;
      const all = [
        ...tracks.map((id, index) => trackOf(id, generation.id, index, `${generation.id}/1/${index}-mix.mp3`)),
        trackOf(uploaded, null, 0, `${uploaded}/mix.mp3`),
      ];
      const split = aJob({
        ...{ ...ENDED, accountId: owner, kind: "stem_split", operation: "stem_split" },
        request: aJobRequest({ prompt: "", sourceTrackId: tracks[0] }),
      });
      const output: JobOutput = { ...anAsset({ audioKey: `${split.id}/1/0-vocals.wav`, label: "vocals" }) };
      for (const key of [...all.flatMap(({ assets }) => assets), output]) await audio.put(key.audioKey, MP3, 10);
      await storage.inTransaction(async (tx) => {
        await storage.jobs.insertJobs(tx, [generation, split]);
        await storage.jobs.insertAttempts(tx, [anAttempt({ jobId: generation.id, state: "settled", message: secret })]);
        await storage.jobs.insertOutputs(tx, [{ jobId: split.id, outputs: [output] }]);
        await storage.library.insertTracks(tx, all);
        await storage.library.insertPlaylists(tx, [aPlaylist({ trackIds: [...tracks, uploaded] })]);
        await storage.uploads.insertUpload(tx, {
          ...{ trackId: uploaded, accountId: owner, sizeBytes: 3, createdAt: NOON, storedAt: NOON },
        });
        await storage.callbacks.insert(tx, {
          ...{ id: anId("cbk"), jobId: generation.id, providerId: "synth", attempt: 1, digest: anId("evt") },
          ...{ headers: {}, query: {}, body: Buffer.from(secret), receivedAt: NOON },
        });
      });
      return { secret, owner, generation, split, tracks, uploaded };
    }

    it("leaves no word, file or place of it, and the job's own words until its last track goes", async () => {
      const { secret, owner, generation, split, tracks, uploaded } = made;
      const [first, second] = tracks;
      await manage().deleteTrack(uploaded, { owner });
      expect(filesOf(uploaded)).to.deep.equal([]);
      expect(await storage.erasures.hasUploads(owner), "the quota is free again").to.equal(false);
      await manage().deleteTrack(first, { owner });
      expect((await storage.jobs.outputsOf([split.id])).size).to.equal(0);
      expect(filesOf(generation.id, split.id)).to.deep.equal([`${generation.id}/1/1-mix.mp3`]);
      const left = (await storage.library.tracksOfJobs([generation.id])).get(generation.id);
      expect(left?.map(({ id }) => id)).to.deep.equal([second]);
      expect((await storage.jobs.findJobs([generation.id])).get(generation.id)?.request.prompt).to.equal(secret);

      await manage().deleteTrack(second, { owner });
      expect(await wordsLeft()).to.deep.equal([]);
      expect(filesOf(generation.id, split.id)).to.deep.equal([]);
      const kept = await storage.jobs.findJobs([generation.id, split.id]);
      expect([...kept.values()].map(({ status }) => status)).to.deep.equal(["completed", "completed"]);
      const { durationSeconds } = generation.request;
      expect(kept.get(generation.id)?.request).to.include({ durationSeconds, prompt: "", lyrics: null });
      expect(columnsWith(await dump(storage.database), [...tracks, uploaded])).to.deep.equal([
        "audit_log.targets",
        "jobs.request",
        "jobs.shown_request",
      ]);
      expect(await storage.erasures.listTracks(owner, null, 10), "what an export holds").to.deep.equal([]);
      const records = await storage.auditLog.list({ accountId: owner, limit: 10 });
      expect(records.map(({ action, fields }) => [action, fields])).to.deep.equal([
        ["library.delete", { files: 1 }],
        ["library.delete", { files: 2 }],
        ["library.delete", { files: 1 }],
      ]);
      expect(await fileRows()).to.equal(0);
    });

    it("is refused while a job of any account works from it, and changes nothing then", async () => {
      const { owner, tracks } = made;
      for (const accountId of [owner, anId("acct")]) {
        const request = aJobRequest({ prompt: "", sourceTrackId: tracks[0] });
        const job = aJob({ accountId, kind: "vocal_removal", operation: "vocal_removal", request });
        await storage.inTransaction((tx) => storage.jobs.insertJobs(tx, [job]));
        const files = audio.keys;
        const error = await manage()
          .deleteTrack(tracks[0])
          .catch((cause: unknown) => cause);
        expect(error).to.be.instanceOf(InputRefusedError);
        expect((error as Error).message.includes(job.id), "its id is for the owner").to.equal(accountId === owner);
        expect(audio.keys).to.deep.equal(files);
        expect((await storage.jobs.outputsOf([made.split.id])).size).to.equal(1);
        const changes = { ...ENDED, status: "failed", creditsCharged: 0 } as const;
        await storage.inTransaction((tx) => storage.jobs.updateJobs(tx, [{ id: job.id, fence: job.fence, changes }]));
      }
      await manage().deleteTrack(tracks[0]);
      expect((await storage.library.findTracks([tracks[0]])).size).to.equal(0);
    });

    it("is done once: of several calls at a time one finds it", async () => {
      const outcomes = await Promise.allSettled([1, 2, 3].map(() => manage().deleteTrack(made.tracks[0])));
      const failed = outcomes.flatMap((one) => (one.status === "rejected" ? [one.reason as unknown] : []));
      expect(failed).to.have.length(2);
      for (const error of failed) expect(error).to.be.instanceOf(TrackNotFoundError);
    });

    it("both tracks of a job at once take its words with them", async () => {
      await Promise.all(made.tracks.map((id) => manage().deleteTrack(id)));
      await manage().deleteTrack(made.uploaded);
      expect(await wordsLeft()).to.deep.equal([]);
    });

    it("ends links at once, and another process deletes the files where one is lost after the commit", async () => {
      const { tracks, split } = made;
      const stem = `${split.id}/1/0-vocals.wav`;
      const lost = manage({}, { deleteNoted: () => Promise.reject(new Error("scripted: the process is lost")) });
      const error = await lost.deleteTrack(tracks[0]).catch((cause: unknown) => cause);
      expect((error as Error).message).to.include("lost");
      expect(filesOf(split.id), "still stored").to.deep.equal([stem]);
      expect(await storage.erasures.isNotedFile(stem)).to.equal(true);
      await sweep();
      expect(filesOf(split.id)).to.deep.equal([]);
      expect(await fileRows()).to.equal(0);
    });

    it("succeeds while the audio store is unavailable; its files are deleted later, and block no others", async () => {
      const { tracks, uploaded, split } = made;
      const broken = { delete: () => Promise.reject(new Error("scripted: unavailable")) };
      await manage({ audio: Object.assign(Object.create(audio) as MemoryAudioStore, broken) }).deleteTrack(tracks[0]);
      expect(filesOf(split.id)).to.have.length(1);
      await manage().deleteTrack(uploaded);
      expect(filesOf(uploaded)).to.deep.equal([]);
      expect(await fileRows()).to.equal(2);
      await sweep();
      expect(filesOf(split.id)).to.deep.equal([]);
      expect(await fileRows()).to.equal(0);
    });

    for (const when of ["before", "after"] as const)
      it(`keeps all of it or leaves nothing, where a process is lost ${when} any of its calls`, async () => {
        let lost = 0;
        for (let calls = 1; ; calls += 1) {
          made = await fill();
          const before = lost;
          let done = 0;
          const fails = <Port extends object>(port: Port): Port =>
            losing(port, when, () => {
              done += 1;
              if (done !== calls) return false;
              lost += 1;
              return true;
            });
          const { library, jobs, ledger, erasures } = storage;
          const ports = {
            ...{ library: fails(library), jobs: fails(jobs), ledger: fails(ledger) },
            ...{ erasures: fails(erasures), audio: fails(audio) },
          };
          await manage(ports)
            .deleteTrack(made.tracks[0])
            .catch(() => undefined);
          await sweep();
          await sweep();
          const isKept = (await storage.library.findTracks([made.tracks[0]])).size === 1;
          expect(filesOf(made.split.id), `call ${calls}`).to.have.length(isKept ? 1 : 0);
          expect(filesOf(made.generation.id), `call ${calls}`).to.have.length(isKept ? 2 : 1);
          expect(await fileRows()).to.equal(0);
          if (lost === before) break;
        }
        expect(lost).to.be.above(8);
      });
  });
}

const MP3 = new Uint8Array([1, 2, 3]);
