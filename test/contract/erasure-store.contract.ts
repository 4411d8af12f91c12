import { expect } from "chai";
import type { AccountId, TrackId } from "../../core/ids.js";
import type { Job } from "../../core/jobs/job.js";
import type { ErasedRows, ErasureCursor, PendingDeletion } from "../../core/ports/erasure-store.js";
import type { Transaction } from "../../core/ports/unit-of-work.js";
import {
  aJob,
  aJobRequest,
  aLoggedRequest,
  anApiKey,
  anAsset,
  anAttempt,
  anId,
  aPlaylist,
  aTrack,
  NOON,
} from "../support/builders.js";
import type { StorageWith } from "../support/storage-under-test.js";

type Storage = StorageWith<
  "erasures" | "accounts" | "addAccount" | "jobs" | "library" | "requestLog" | "uploads" | "callbacks"
>;

const LEASE_MS = 60_000;

/** One that ended, for a request of that moment. */
function aCostlyJob(accountId: AccountId, requestedAt: number): Job {
  const end = { status: "completed", phase: "ended", dueAt: null, completedAt: NOON } as const;
  return aJob({ accountId, requestedAt, requestId: anId("req"), reserved: { monthly: 7, pack: 0 }, ...end });
}

/**
 * The promises of every `ErasureStore`.
 *
 * @param open opens a storage without rows, once for the suite; {@link storageUnderTest} creates it
 */
export function erasureStoreContract(name: string, open: () => Promise<Storage>): void {
  describe(`ErasureStore contract: ${name}`, () => {
    let storage: Storage;
    before(async () => {
      storage = await open();
    });
    after(() => storage.close());

    const aDeletion = (overrides: Partial<PendingDeletion> = {}): PendingDeletion => ({
      accountId: anId("acct"),
      requestedAt: NOON,
      erasedAt: null,
      erased: {},
      place: { kind: 0, after: null, found: 0 },
      dueAt: null,
      ...overrides,
    });
    const add = (deletion: PendingDeletion): Promise<void> =>
      storage.inTransaction((tx) => storage.erasures.insertDeletion(tx, deletion));
    const claim = (now: number): Promise<PendingDeletion | null> =>
      storage.inTransaction((tx) => storage.erasures.claimDeletion(tx, now, now + LEASE_MS));
    const write = (deletion: PendingDeletion, claimedUntil: number): Promise<boolean> =>
      storage.inTransaction((tx) => storage.erasures.writeDeletion(tx, deletion, claimedUntil));

    describe("deletions", () => {
      it("are found by their account, with all that is said of how far they are", async () => {
        const deletion = aDeletion({ erasedAt: NOON + 5, erased: { jobs: 3 } });
        await add(deletion);
        const { place: _place, dueAt: _dueAt, ...shown } = deletion;
        expect(await storage.erasures.findDeletion(deletion.accountId)).to.deep.equal(shown);
        expect(await storage.erasures.findDeletion(anId("acct"))).to.equal(null);
        const isDeleted = (id: AccountId): Promise<boolean> =>
          storage.inTransaction((tx) => storage.erasures.isDeleted(tx, id));
        expect([await isDeleted(deletion.accountId), await isDeleted(anId("acct"))]).to.deep.equal([true, false]);
      });

      it("are claimed when they are due, the longest due first, and by one process at a time", async () => {
        const [later, sooner] = [aDeletion({ dueAt: NOON + 20 }), aDeletion({ dueAt: NOON + 10 })];
        for (const deletion of [later, sooner]) await add(deletion);
        expect(await claim(NOON)).to.equal(null);
        expect(await claim(NOON + 20)).to.deep.equal({ ...sooner, dueAt: NOON + 20 + LEASE_MS });
        expect(await claim(NOON + 20)).to.deep.equal({ ...later, dueAt: NOON + 20 + LEASE_MS });
        expect(await claim(NOON + 20)).to.equal(null);
        // Its process was lost.
        expect((await claim(NOON + 20 + LEASE_MS))?.requestedAt).to.equal(NOON);
        for (const { accountId } of [later, sooner]) await settle(accountId);
      });

      it("are written by the process that has them, and by no other", async () => {
        const place = {
          ...{ kind: 5, found: 7, after: { status: "failed", createdAt: NOON, id: anId("job") } as const },
        };
        await add(aDeletion({ dueAt: NOON }));
        const claimed = (await claim(NOON)) as PendingDeletion;
        const next = { ...claimed, place, erased: { keys: 1 }, dueAt: NOON + 2 * LEASE_MS };
        expect(await write(next, NOON)).to.equal(false);
        expect(await write(next, claimed.dueAt ?? 0)).to.equal(true);
        expect(await write(next, claimed.dueAt ?? 0)).to.equal(false);
        const again = await claim(NOON + 2 * LEASE_MS);
        expect(again).to.deep.equal({ ...next, dueAt: NOON + 3 * LEASE_MS });
        expect(await write({ ...next, dueAt: null }, NOON + 3 * LEASE_MS)).to.equal(true);
        expect(await claim(NOON + 9 * LEASE_MS)).to.equal(null);
      });

      it("are written alone, also when another was claimed at the same moment", async () => {
        const [one, other] = [aDeletion({ dueAt: NOON }), aDeletion({ dueAt: NOON })];
        for (const deletion of [one, other]) await add(deletion);
        const claimed = [await claim(NOON), await claim(NOON)] as PendingDeletion[];
        expect(claimed.map(({ dueAt }) => dueAt)).to.deep.equal([NOON + LEASE_MS, NOON + LEASE_MS]);
        const [first, second] = claimed as [PendingDeletion, PendingDeletion];
        expect(await write({ ...first, erasedAt: NOON, dueAt: null }, NOON + LEASE_MS)).to.equal(true);
        expect(await storage.erasures.findDeletion(second.accountId)).to.include({ erasedAt: null });
        expect(await write({ ...second, dueAt: null }, NOON + LEASE_MS)).to.equal(true);
      });

      /** Takes a deletion out of the way of other tests. */
      async function settle(accountId: AccountId): Promise<void> {
        for (let claimed = await claim(2 * NOON); claimed !== null; claimed = await claim(2 * NOON))
          await write({ ...claimed, dueAt: null }, claimed.dueAt ?? 0);
        expect(await storage.erasures.findDeletion(accountId)).to.not.equal(null);
      }
    });

    describe("files that are to be deleted", () => {
      const write = (work: (tx: Transaction) => Promise<void>): Promise<void> => storage.inTransaction(work);

      it("are due from a moment on, can be postponed, and are forgotten", async () => {
        const { erasures } = storage;
        const [one, two] = [`${anId("job")}/1/0-mix.mp3`, `${anId("trk")}/mix.wav`];
        await write((tx) => erasures.noteFiles(tx, [two, one, one], NOON));
        await write((tx) => erasures.noteFiles(tx, [one], NOON - 5));
        await write((tx) => erasures.noteFiles(tx, [], NOON));
        await write((tx) => erasures.postponeFiles(tx, [two, "trk_1/none.mp3"], NOON + 5));
        expect(await erasures.dueFiles(NOON - 1, 10)).to.deep.equal([]);
        expect(await erasures.dueFiles(NOON, 10)).to.deep.equal([one]);
        expect([await erasures.dueFiles(NOON + 5, 10), await erasures.dueFiles(NOON + 5, 1)]).to.deep.equal([
          [one, two],
          [one],
        ]);
        expect([await erasures.isNotedFile(one), await erasures.isNotedFile(`${one}4`)]).to.deep.equal([true, false]);
        await write((tx) => erasures.forgetFiles(tx, [one, two, two]));
        expect(await erasures.isNotedFile(one)).to.equal(false);
        expect(await erasures.dueFiles(NOON + 5, 10)).to.deep.equal([]);
      });
    });

    describe("what is stored of an account", () => {
      let accountId: AccountId;
      beforeEach(async () => {
        accountId = (await storage.addAccount()).id;
      });

      const ended = { phase: "ended", dueAt: null, completedAt: NOON, endedBy: "rpt_1" } as const;

      it("live jobs: those that are not cancelled yet come first", async () => {
        const [cancelled, waiting, over] = [
          aJob({ accountId, status: "processing", cancelRequestedAt: NOON }),
          aJob({ accountId }),
          aJob({ accountId, status: "completed", ...ended }),
        ];
        await storage.inTransaction((tx) => storage.jobs.insertJobs(tx, [cancelled, waiting, over, aJob()]));
        const ids = async (limit: number): Promise<string[]> =>
          (await storage.erasures.liveJobs(accountId, limit)).map(({ id }) => id);
        expect([await ids(10), await ids(1)]).to.deep.equal([[waiting.id, cancelled.id], [waiting.id]]);
      });

      it("ended jobs: page by page, the completed ones first, with what is busy or erased", async () => {
        const jobs = [
          aJob({ accountId, status: "completed", ...ended }),
          aJob({ accountId, status: "completed", createdAt: NOON + 1, ...ended }),
          aJob({ accountId, status: "failed", creditsCharged: 0, ...ended }),
        ];
        const [first, second, third] = jobs as [(typeof jobs)[0], (typeof jobs)[0], (typeof jobs)[0]];
        await storage.inTransaction(async (tx) => {
          await storage.jobs.insertJobs(tx, [...jobs, aJob({ accountId })]);
          await storage.jobs.insertAttempts(tx, [
            anAttempt({ jobId: third.id, state: "abandoned", cancelDueAt: NOON }),
            anAttempt({ jobId: second.id, state: "settled" }),
          ]);
          await storage.erasures.eraseJobs(tx, [first.id], NOON);
        });
        const found: unknown[] = [];
        for (let after: ErasureCursor | null = null; ;) {
          const page = await storage.erasures.endedJobs(accountId, after, 2);
          found.push(...page.map(({ id, isErased, isBusy }) => [id, isErased, isBusy]));
          after = page.at(-1) ?? null;
          if (page.length < 2) break;
        }
        expect(found).to.deep.equal([
          [first.id, true, false],
          [second.id, false, false],
          [third.id, false, true],
        ]);
      });

      it("jobs are erased once: request, error, outputs, callbacks, attempts and tracks", async () => {
        const error = { code: "generation_failed", message: "no", details: { reason: "cancelled" } } as const;
        const job = aJob({ accountId, status: "failed", creditsCharged: 0, error, ...ended });
        const track = aTrack({ accountId, jobId: job.id });
        await storage.inTransaction(async (tx) => {
          await storage.jobs.insertJobs(tx, [job]);
          await storage.library.insertTracks(tx, [{ ...track, lyrics: { text: "la", words: null } }]);
          const { role: _role, ...output } = anAsset();
          await storage.jobs.insertOutputs(tx, [{ jobId: job.id, outputs: [output] }]);
          const cost = { amount: 2, unit: "USD" };
          await storage.jobs.insertAttempts(tx, [
            anAttempt({ jobId: job.id, state: "failed", message: "no", handle: { version: 1, data: {} }, cost }),
          ]);
        });
        const erase = (): Promise<number> =>
          storage.inTransaction((tx) => storage.erasures.eraseJobs(tx, [job.id, anId("job")], NOON));
        expect([await erase(), await erase()]).to.deep.equal([1, 0]);
        const left = (await storage.jobs.findJobs([job.id])).get(job.id);
        expect(left?.request).to.deep.equal({
          ...{ prompt: "", lyrics: null, durationSeconds: 30, instrumental: true, client: null, metadata: null },
          ...{ options: {}, sourceTrackId: null, sourceUse: null },
        });
        expect(left?.error).to.deep.equal({ ...error, message: "The account was deleted." });
        expect(left).to.deep.include({ reserved: job.reserved, status: "failed", requestId: null });
        expect((await storage.jobs.outputsOf([job.id])).size).to.equal(0);
        expect((await storage.library.findTracks([track.id])).size).to.equal(0);
        expect(await storage.library.findLyrics(track.id)).to.equal(null);
        const [attempt] = await storage.jobs.listAttempts(job.id);
        expect(attempt).to.deep.include({ message: null, handle: null, cost: { amount: 2, unit: "USD" } });
      });

      it("tracks and playlists are listed by id, page by page, and erased wherever they stand", async () => {
        const tracks = [aTrack({ accountId, jobId: null }), aTrack({ accountId, jobId: anId("job") })];
        const [first, second] = tracks.map(({ id }) => id).sort() as [
          (typeof tracks)[0]["id"],
          (typeof tracks)[0]["id"],
        ];
        const own = aPlaylist({ accountId, trackIds: [first] });
        const others = aPlaylist({ trackIds: [first, second] });
        await storage.inTransaction(async (tx) => {
          await storage.library.insertTracks(tx, tracks);
          await storage.library.insertPlaylists(tx, [own, others]);
        });
        const listed = await storage.erasures.listTracks(accountId, null, 10);
        expect(listed.map(({ id }) => id)).to.deep.equal([first, second]);
        expect(listed.map(({ jobId }) => jobId)).to.have.members(tracks.map(({ jobId }) => jobId));
        expect((await storage.erasures.listTracks(accountId, first, 10)).map(({ id }) => id)).to.deep.equal([second]);
        expect(await storage.erasures.listPlaylists(accountId, null, 10)).to.deep.equal([own.id]);
        expect(await storage.erasures.listPlaylists(accountId, own.id, 10)).to.deep.equal([]);
        const erased = await storage.inTransaction((tx) => storage.erasures.eraseTracks(tx, [first, anId("trk")]));
        expect(erased).to.equal(1);
        expect((await storage.library.findPlaylists([others.id])).get(others.id)?.trackIds).to.deep.equal([second]);
      });

      it("one track is erased with its upload, and with the last one of a job what the job was asked for", async () => {
        const request = aJobRequest({ prompt: "rain", lyrics: "la", metadata: { a: 1 }, options: { key: "C" } });
        const job = aJob({ accountId, request, status: "completed", ...ended });
        const [first, second] = [0, 1].map((position) => aTrack({ accountId, jobId: job.id, position })) as [
          ReturnType<typeof aTrack>,
          ReturnType<typeof aTrack>,
        ];
        const upload = aTrack({ accountId });
        await storage.inTransaction(async (tx) => {
          await storage.jobs.insertJobs(tx, [job]);
          await storage.jobs.insertAttempts(tx, [anAttempt({ jobId: job.id, state: "settled", message: "la" })]);
          await storage.library.insertTracks(tx, [first, { ...second, lyrics: { text: "la", words: null } }, upload]);
          await storage.uploads.insertUpload(tx, {
            ...{ trackId: upload.id, accountId, sizeBytes: 3, createdAt: NOON, storedAt: NOON },
          });
        });
        const erase = (id: TrackId): Promise<void> =>
          storage.inTransaction((tx) => storage.erasures.eraseTrack(tx, id, NOON));
        const prompt = async (): Promise<string | undefined> =>
          (await storage.jobs.findJobs([job.id])).get(job.id)?.request.prompt;
        for (const id of [upload.id, first.id, anId("trk")]) await erase(id);
        expect(await storage.erasures.hasUploads(accountId)).to.equal(false);
        expect(await prompt()).to.equal("rain");
        await erase(second.id);
        const left = (await storage.jobs.findJobs([job.id])).get(job.id);
        const wordless = { prompt: "", lyrics: null, metadata: null, options: {} };
        expect(left).to.deep.equal({ ...job, request: { ...request, ...wordless } });
        expect((await storage.jobs.listAttempts(job.id))[0]).to.include({ message: null, state: "settled" });
        expect(await storage.library.findLyrics(second.id)).to.equal(null);
        expect(await storage.erasures.listTracks(accountId, null, 10)).to.deep.equal([]);
      });

      it("uploads are listed once they are tracks, or were begun long ago", async () => {
        const upload = { accountId, sizeBytes: 3, createdAt: NOON, storedAt: null };
        const [stored, old, young] = [anId("trk"), anId("trk"), anId("trk")];
        await storage.inTransaction(async (tx) => {
          await storage.uploads.insertUpload(tx, { ...upload, trackId: stored, storedAt: NOON });
          await storage.uploads.insertUpload(tx, { ...upload, trackId: old, createdAt: NOON - 10 });
          await storage.uploads.insertUpload(tx, { ...upload, trackId: young });
        });
        const found = await storage.erasures.listUploads(accountId, NOON, 10);
        expect(found).to.have.members([stored, old]);
        expect(await storage.inTransaction((tx) => storage.erasures.eraseUploads(tx, found))).to.equal(2);
        expect(await storage.erasures.hasUploads(accountId)).to.equal(true);
        await storage.inTransaction((tx) => storage.erasures.eraseUploads(tx, [young]));
        expect(await storage.erasures.hasUploads(accountId)).to.equal(false);
      });

      it("rows are deleted a few at a time, and no one else's", async () => {
        const other = (await storage.addAccount()).id;
        await storage.inTransaction(async (tx) => {
          for (const owner of [accountId, other]) {
            await storage.accounts.insertKeys(tx, [anApiKey({ accountId: owner })]);
            await storage.requestLog.insert(
              tx,
              [1, 2, 3].map(() => aLoggedRequest({ accountId: owner })),
            );
            await storage.library.insertPlaylists(tx, [aPlaylist({ accountId: owner })]);
            await storage.jobs.insertJobs(tx, [aCostlyJob(owner, NOON), aCostlyJob(owner, NOON + 3_600_000)]);
          }
        });
        const erase = (kind: ErasedRows, limit: number): Promise<number> =>
          storage.inTransaction((tx) => storage.erasures.eraseRows(tx, kind, accountId, limit));
        expect([await erase("requests", 2), await erase("requests", 2)]).to.deep.equal([2, 1]);
        expect([await erase("keys", 2), await erase("playlists", 2)]).to.deep.equal([1, 1]);
        // One item of some thirty leaves a note for the upkeep of the search; those of the tests before may have.
        const notes = await erase("search_words", 100);
        expect(notes).to.be.below(10);
        expect([await erase("keys", 2), await erase("search_words", 100)]).to.deep.equal([0, 0]);
        const all = { from: 0, to: Number.MAX_SAFE_INTEGER };
        expect((await storage.requestLog.count({ accountId: other, ...all })).requests).to.equal(3);
        expect([await erase("credit_sums", 1), await erase("credit_sums", 2)]).to.deep.equal([1, 1]);
        const credits = await Promise.all(
          [accountId, other].map((owner) => storage.requestLog.sumCredits({ accountId: owner, ...all })),
        );
        expect(credits.map(({ used }) => used)).to.deep.equal([0, 14]);
        expect(await storage.accounts.listKeys(other)).to.have.length(1);
        expect(await storage.erasures.listPlaylists(other, null, 10)).to.have.length(1);
      });
    });
  });
}
