import { expect } from "chai";
import { unrecorded } from "../../../core/audit/unrecorded.js";
import {
  OperationRefusedError,
  PlaylistNotFoundError,
  TrackNotFoundError,
  UnknownObjectError,
} from "../../../core/errors.js";
import type { AccountId } from "../../../core/ids.js";
import { DELETE_FILES_TASK, DeleteFiles, OWN_DELETION_MS } from "../../../core/library/delete-files.js";
import { ManageLibrary } from "../../../core/library/manage-library.js";
import { toLyrics } from "../../../core/library/lyrics.js";
import type { Track } from "../../../core/library/track.js";
import { aJob, aJobRequest, anId, aPlaylist, aTrack } from "../../support/builders.js";
import { FaultyPort } from "../../support/doubles/faulty-port.js";
import { type MemoryCore, memoryCore } from "../../support/memory-core.js";

const failure = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error);
const never = new AbortController().signal;

describe("Tracks and playlists as operators and accounts manage them", () => {
  let memory: MemoryCore;
  let manage: ManageLibrary;
  let accountId: AccountId;
  let own: Track;
  let theirs: Track;
  beforeEach(() => open(false));

  async function open(isTwice: boolean): Promise<void> {
    memory = await memoryCore({
      ports: ({ unitOfWork }) => ({
        unitOfWork: new FaultyPort(unitOfWork).on("inTransaction", async (run, work) => {
          if (isTwice) await run(work);
          return run((tx) => work(tx, { isRetry: isTwice }));
        }),
      }),
    });
    ({ manage } = memory.core.library);
    accountId = (await memory.storage.addAccount()).id;
    [own, theirs] = [aTrack({ accountId }), aTrack()];
    await insert(own, theirs);
  }
  const insert = (...tracks: readonly Track[]): Promise<void> =>
    memory.storage.inTransaction((tx) => memory.storage.library.insertTracks(tx, tracks));
  const records = async (): Promise<unknown[]> =>
    (await memory.storage.auditLog.list({ limit: 9 })).map(({ action, accountId: owner, targets, fields }) => [
      action,
      owner,
      targets,
      fields,
    ]);
  const create = (given: Partial<Parameters<ManageLibrary["createPlaylist"]>[0]> = {}) =>
    manage.createPlaylist({ title: "Quiet", accountId, visibility: "private", ...given });

  describe("playlists", () => {
    it("are created with tracks that their owner may play, and recorded", async () => {
      const playlist = await create({ title: "Quiet\u200b evenings", tracks: [own.id] });
      expect(playlist).to.deep.include({
        accountId,
        title: "Quiet evenings",
        visibility: "private",
        trackIds: [own.id],
        createdAt: memory.clock.now(),
      });
      expect((await manage.playlist(playlist.id)).tracks.map(({ id }) => id)).to.deep.equal([own.id]);
      expect(await records()).to.deep.equal([
        ["playlists.create", accountId, [playlist.id], { visibility: "private", tracks: 1 }],
      ]);
      const shared = await create({ accountId: null, visibility: "public" });
      expect(shared).to.deep.include({ accountId: null, trackIds: [] });
    });

    it("are created once, also when the reply to the commit is lost", async () => {
      await open(true);
      const { id } = await create();
      expect((await memory.core.library.read.playlists(accountId)).map(({ playlist }) => playlist.id)).to.deep.equal([
        id,
      ]);
    });

    it("are refused with a title, owner or track that cannot be, and beyond the most that an account has", async () => {
      const { id: deleted } = await memory.storage.addAccount({ deletedAt: 1 });
      for (const owner of ["nonsense", anId("acct"), deleted])
        expect(await failure(create({ accountId: owner }))).to.be.instanceOf(UnknownObjectError);
      for (const wrong of [{ title: "" }, { title: "a\nb" }, { tracks: [theirs.id] }, { tracks: ["nonsense"] }])
        expect(await failure(create(wrong)), JSON.stringify(wrong)).to.be.instanceOf(OperationRefusedError);
      expect(await failure(create({ accountId: null }))).to.be.instanceOf(OperationRefusedError);
      expect(await records()).to.deep.equal([]);
      const many = Array.from({ length: 1_000 }, () => aPlaylist({ accountId }));
      await memory.storage.inTransaction((tx) => memory.storage.library.insertPlaylists(tx, many));
      expect(await failure(create())).to.be.instanceOf(OperationRefusedError);
      await create({ accountId: null, visibility: "public" });
    });

    it("are found by their owner alone, where one is named", async () => {
      const { id } = await create();
      const other = anId("acct");
      expect((await manage.playlist(id, { owner: accountId })).playlist.id).to.equal(id);
      for (const work of [
        manage.playlist(id, { owner: other }),
        manage.editPlaylist(id, {}, { owner: other }),
        manage.deletePlaylist(id, { owner: other }),
        manage.playlist("nonsense"),
        manage.playlist(anId("pls")),
      ])
        expect(await failure(work)).to.be.instanceOf(PlaylistNotFoundError);
    });

    it("are edited: title, visibility and tracks, of which those that are there may stay", async () => {
      const { id } = await create({ tracks: [own.id] });
      memory.storage.sql("UPDATE fermata_tracks SET account_id = ? WHERE id = ?", anId("acct"), own.id);
      const second = aTrack({ accountId });
      await insert(second);
      const edited = await manage.editPlaylist(id, { title: "Loud", visibility: "public", add: [second.id] });
      expect(edited).to.include({ title: "Loud", visibility: "public" });
      expect(edited.trackIds).to.include(own.id);
      expect((await records())[0]).to.deep.equal([
        "playlists.edit",
        accountId,
        [id],
        { title_changed: true, visibility: "public", tracks: edited.trackIds.length },
      ]);
      expect(await manage.editPlaylist(id, {})).to.deep.include({ title: "Loud", visibility: "public" });
      expect((await records())[0]).to.have.nested.property("[3].title_changed", false);
      expect(await failure(manage.editPlaylist(id, { title: "" }))).to.be.instanceOf(OperationRefusedError);
      expect(await failure(manage.editPlaylist(id, { tracks: [theirs.id] }))).to.be.instanceOf(OperationRefusedError);
      expect((await manage.playlist(id)).playlist.title).to.equal("Loud");
      memory.storage.sql("DELETE FROM fermata_tracks WHERE id = ?", own.id);
      expect((await manage.playlist(id)).tracks.map((track) => track.id)).not.to.include(own.id);
    });

    it("are deleted, and their tracks stay", async () => {
      const { id } = await create({ tracks: [own.id] });
      expect(await manage.deletePlaylist(id)).to.equal(id);
      expect(await failure(manage.playlist(id))).to.be.instanceOf(PlaylistNotFoundError);
      expect((await manage.trackWithLyrics(own.id)).track.id).to.equal(own.id);
      expect((await records())[0]).to.deep.equal(["playlists.delete", accountId, [id], { tracks: 1 }]);
    });

    it("are gone where another process has deleted them meanwhile", async () => {
      const { id } = await create();
      const library = new FaultyPort(memory.storage.library).on("lockPlaylist", async () => null);
      const again = new ManageLibrary({
        ...memory.ports,
        library,
        audit: unrecorded(memory.storage.unitOfWork),
        deletedFiles: new DeleteFiles(memory.ports),
      });
      expect(await failure(again.editPlaylist(id, { title: "x" }))).to.be.instanceOf(PlaylistNotFoundError);
    });
  });

  describe("tracks", () => {
    it("are read with their lyrics, by their owner alone where one is named", async () => {
      const sung = { ...aTrack({ accountId }), lyrics: { text: "la", words: null } };
      await insert(sung);
      expect((await manage.trackWithLyrics(sung.id)).lyrics).to.deep.equal({ text: "la", words: null });
      expect((await manage.trackWithLyrics(own.id, { owner: accountId })).lyrics).to.equal(null);
      for (const work of [
        manage.trackWithLyrics(theirs.id, { owner: accountId }),
        manage.trackWithLyrics("nonsense"),
        manage.trackWithLyrics(anId("trk")),
        manage.share(theirs.id, { owner: accountId }),
        manage.unshare(theirs.id, { owner: accountId }),
        manage.deleteTrack(theirs.id, { owner: accountId }),
      ])
        expect(await failure(work)).to.be.instanceOf(TrackNotFoundError);
    });

    it("are shared under one address until that is closed, and under another one then", async () => {
      const shared = await manage.share(own.id);
      expect(shared.shareToken).to.be.a("string");
      expect(await manage.share(own.id)).to.include({ shareToken: shared.shareToken });
      const { publicLinks } = memory.core.api;
      expect(await publicLinks.findSharedTrack(shared.shareToken ?? "")).to.include({ id: own.id });
      const closed = await manage.unshare(own.id);
      expect(closed).to.include({ shareToken: null, linkGeneration: 1 });
      expect(await manage.unshare(own.id)).to.include({ shareToken: null, linkGeneration: 1 });
      expect(await publicLinks.findSharedTrack(shared.shareToken ?? "")).to.equal(null);
      expect((await manage.share(own.id)).shareToken).not.to.equal(shared.shareToken);
      expect((await records()).map((one) => (one as unknown[])[0])).to.deep.equal([
        "library.share",
        "library.unshare",
        "library.share",
      ]);
    });

    it("are deleted with their files, their places in playlists and their splits", async () => {
      const split = aJob({
        ...{ accountId, kind: "stem_split", status: "completed" },
        request: aJobRequest({ sourceTrackId: own.id }),
      });
      const stem = `${split.id}/1/drums.wav`;
      const { id: playlistId } = await create({ tracks: [own.id] });
      await memory.storage.inTransaction(async (tx) => {
        await memory.storage.jobs.insertJobs(tx, [split]);
        const output = { label: "drums", audioKey: stem, contentType: "audio/wav", sizeBytes: 1, durationSeconds: 1 };
        await memory.storage.jobs.insertOutputs(tx, [{ jobId: split.id, outputs: [output] }]);
      });
      const mix = own.assets[0]?.audioKey ?? "";
      for (const key of [mix, stem, "other/file.mp3"]) await memory.audio.put(key, new Uint8Array(1), 10);
      expect(await manage.deleteTrack(own.id)).to.equal(own.id);
      expect(memory.audio.keys).to.deep.equal(["other/file.mp3"]);
      expect((await manage.playlist(playlistId)).playlist.trackIds).to.deep.equal([]);
      expect((await memory.storage.jobs.outputsOf([split.id])).size).to.equal(0);
      expect((await records())[0]).to.deep.equal(["library.delete", accountId, [own.id], { files: 2 }]);
      expect(await failure(manage.deleteTrack(own.id))).to.be.instanceOf(TrackNotFoundError);
      expect(await memory.storage.erasures.isNotedFile(mix)).to.equal(false);
    });

    it("are deleted once, also when the reply to the commit is lost", async () => {
      await open(true);
      expect(await manage.deleteTrack(own.id)).to.equal(own.id);
    });

    it("are not deleted while a job works from them, whose it is", async () => {
      const job = aJob({ accountId, request: aJobRequest({ sourceTrackId: own.id }) });
      const other = aJob({ request: aJobRequest({ sourceTrackId: theirs.id }) });
      await memory.storage.inTransaction((tx) => memory.storage.jobs.insertJobs(tx, [job, other]));
      expect(String(await failure(manage.deleteTrack(own.id)))).to.include(
        `The job ${job.id} works from the track ${own.id}; wait for its end, or cancel it.`,
      );
      const used = await failure(manage.deleteTrack(theirs.id));
      expect(String(used)).to.include(`A job of another account works from the track ${theirs.id}; wait for its end.`);
      expect((await manage.trackWithLyrics(own.id)).track.id).to.equal(own.id);
      expect(await records()).to.deep.equal([]);
    });

    it("of no account, or of a job, are deleted as well", async () => {
      const job = aJob({ accountId, status: "completed" });
      const [free, made] = [aTrack({ accountId: null, visibility: "public" }), aTrack({ accountId, jobId: job.id })];
      await memory.storage.inTransaction((tx) => memory.storage.jobs.insertJobs(tx, [job]));
      await insert(free, made);
      for (const { id } of [free, made]) expect(await manage.deleteTrack(id)).to.equal(id);
      expect((await memory.storage.jobs.findJobs([job.id])).get(job.id)?.request.prompt).to.equal("");
    });

    it("by an account itself are not recorded", async () => {
      const { ownLibrary } = memory.core.api;
      await ownLibrary.share(own.id, { owner: accountId });
      await ownLibrary.deleteTrack(own.id, { owner: accountId });
      expect(await records()).to.deep.equal([]);
    });
  });

  describe("files of deleted tracks", () => {
    const mixOf = ({ assets }: Track): string => assets[0]?.audioKey ?? "";
    const run = (given = {}): Promise<void> => new DeleteFiles({ ...memory.ports, ...given }).task().run(never);

    it("are deleted by another process a minute after the one that deleted the track was lost", async () => {
      const key = mixOf(own);
      await memory.audio.put(key, new Uint8Array(1), 10);
      await memory.storage.inTransaction((tx) => new DeleteFiles(memory.ports).note(tx, [key]));
      await memory.clock.advance(OWN_DELETION_MS - 1);
      await run();
      expect(memory.audio.keys).to.deep.equal([key]);
      await memory.clock.advance(1);
      await run();
      expect(memory.audio.keys).to.deep.equal([]);
      expect(await memory.storage.erasures.isNotedFile(key)).to.equal(false);
      const task = new DeleteFiles(memory.ports).task();
      expect(task).to.include({ id: DELETE_FILES_TASK, everyMs: 5_000 });
    });

    it("that cannot be deleted now are tried again a minute later, and keep no others", async () => {
      const keys = ["a/1.mp3", "b/1.mp3", "c/1.mp3"];
      for (const key of keys) await memory.audio.put(key, new Uint8Array(1), 10);
      const audio = new FaultyPort(memory.audio).on("delete", (remove, key) =>
        key.startsWith("b") ? Promise.reject(new Error("It is locked.")) : remove(key),
      );
      const deleting = new DeleteFiles({ ...memory.ports, audio });
      await memory.storage.inTransaction((tx) => deleting.note(tx, keys));
      await deleting.deleteNoted(keys);
      expect(memory.audio.keys).to.deep.equal(["b/1.mp3"]);
      expect(memory.logger.lines).to.have.length(1);
      expect(memory.logger.lines[0]?.fields).to.include({ files: 1, audio_key: "b/1.mp3" });
      await memory.clock.advance(59_999);
      await run();
      expect(memory.audio.keys).to.deep.equal(["b/1.mp3"]);
      await memory.clock.advance(1);
      await run();
      expect(memory.audio.keys).to.deep.equal([]);
    });

    it("may stay noted when the storage is away: that fails no deletion", async () => {
      const unitOfWork = { inTransaction: () => Promise.reject(new Error("away")) };
      await new DeleteFiles({ ...memory.ports, unitOfWork }).deleteNoted(["a/1.mp3"]);
      expect(memory.logger.lines[0]?.message).to.include("could not be forgotten");
    });
  });

  it("keep what a provider says it sang", () => {
    expect(toLyrics(undefined)).to.equal(null);
    expect(toLyrics({ text: "la" })).to.deep.equal({ text: "la", words: null });
    const words = [{ text: "la", startSeconds: 0, endSeconds: 1 }] as never;
    expect(toLyrics({ text: "la", words })).to.deep.equal({ text: "la", words });
  });
});
