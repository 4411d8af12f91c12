import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { LocalAudioStore } from "../../../adapters/audio/local/audio-store.js";
import {
  ImportRefusedError,
  OperationRefusedError,
  PlaylistNotFoundError,
  TrackNotFoundError,
} from "../../../core/index.js";
import { ImportLibrary, type ImportLibraryDeps } from "../../../core/library/import-library.js";
import type { ImportFiles } from "../../../core/ports/import-files.js";
import { anId } from "../../support/builders.js";
import { sqliteStorage } from "../../support/databases.js";
import type { StorageUnderTest } from "../../support/storage-under-test.js";
import { unrecorded } from "../../../core/audit/unrecorded.js";
import type { UnitOfWork } from "../../../core/ports/unit-of-work.js";
import { RecordingLogger } from "../../support/doubles/recording-logger.js";
import { filesUnder } from "../../support/process.js";
import { LibraryFixture, SILENCE_WAV, UNHEARD } from "../../support/library-fixture.js";
import { FaultyPort } from "../../support/doubles/faulty-port.js";
import { startTestApp, type TestApp } from "../../support/test-app.js";

const RAIN = { ref: "rain", visibility: "public", title: "Rain", artist_label: "Nightingale" };

describe("The library of an embedding app", () => {
  let test: TestApp;
  let fixture: LibraryFixture;
  before(async () => {
    test = await startTestApp({ ...UNHEARD, listen: false });
    fixture = await LibraryFixture.open(test.app);
  });
  after(async () => {
    await fixture.close();
    await test.close();
  });

  it("imports, finds, keeps and shares without HTTP", async () => {
    const { library, shareUrls } = test.app;
    const { account } = await test.account();
    const { rain = "" } = await fixture.add(account.id, { rain: {} });
    const found = await library.read.search(account.id, { q: "rain" });
    expect(found.tracks.map(({ id }) => id)).to.deep.equal([rain]);
    const playlist = await library.manage.createPlaylist({
      title: "Mine",
      accountId: account.id,
      visibility: "private",
      tracks: [rain],
    });
    expect((await library.read.playlist(account.id, playlist.id)).tracks).to.deep.equal(found.tracks);
    expect((await library.read.playlists(account.id)).map(({ playlist: { id } }) => id)).to.deep.equal([playlist.id]);
    expect(shareUrls.urlOf(await library.manage.share(rain))).to.match(/\/share\/[0-9A-Za-z]{22}$/);
    expect(shareUrls.urlOf(await library.manage.unshare(rain))).to.equal(null);
  });

  it("lets only the owner's account change or share; others get the error of unknown ids", async () => {
    const { manage } = test.app.library;
    const [{ account: alice }, { account: bob }] = [await test.account(), await test.account()];
    const { open = "", list = "" } = await fixture.add(
      alice.id,
      { open: { visibility: "public" } },
      { list: { visibility: "public" } },
    );
    const acts = (owner: typeof bob.id, track: string, playlist: string): readonly (() => Promise<unknown>)[] => [
      () => manage.playlist(playlist, { owner }),
      () => manage.editPlaylist(playlist, { title: "x" }, { owner }),
      () => manage.share(track, { owner }),
      () => manage.unshare(track, { owner }),
      () => manage.deletePlaylist(playlist, { owner }),
    ];
    const outcomes = async (owner: typeof bob.id, track: string, playlist: string): Promise<unknown[]> => {
      const names: unknown[] = [];
      for (const act of acts(owner, track, playlist)) {
        names.push(
          await act().then(
            () => "done",
            (error: unknown) => (error as Error).constructor,
          ),
        );
      }
      return names;
    };
    const refused = [
      PlaylistNotFoundError,
      PlaylistNotFoundError,
      TrackNotFoundError,
      TrackNotFoundError,
      PlaylistNotFoundError,
    ];
    expect(await outcomes(bob.id, open, list)).to.deep.equal(refused);
    expect(await outcomes(alice.id, anId("trk"), anId("pls"))).to.deep.equal(refused);
    expect(await outcomes(alice.id, open, list)).to.deep.equal(refused.map(() => "done"));
  });

  it("keeps tracks in a playlist that its owner could no longer add", async () => {
    const { manage } = test.app.library;
    const [{ account: alice }, { account: bob }] = [await test.account(), await test.account()];
    const { own = "", list = "" } = await fixture.add(alice.id, { own: {} }, { list: { tracks: ["own"] } });
    const { foreign = "" } = await fixture.add(bob.id, { foreign: {} });
    for (const changes of [
      { add: [foreign] },
      { tracks: [own, foreign] },
      { tracks: [anId("trk")] },
      { add: ["nonsense"] },
    ]) {
      const error: unknown = await manage.editPlaylist(list, { ...changes, title: "x" }).then(
        () => null,
        (thrown: unknown) => thrown,
      );
      expect(error).to.be.instanceOf(OperationRefusedError);
    }
    const { playlist } = await manage.playlist(list);
    expect(playlist).to.deep.include({ title: "list", trackIds: [own] });
  });

  it("serializes concurrent edits of a playlist", async () => {
    const { manage } = test.app.library;
    const { account } = await test.account();
    const names = Array.from({ length: 10 }, (_, index) => `t${index}`);
    const silent = names.map((name) => [name, { hasAudio: false }] as const);
    const { list = "", ...tracks } = await fixture.add(account.id, Object.fromEntries(silent), { list: {} });
    await Promise.all(Object.values(tracks).map((id) => manage.editPlaylist(list, { add: [id] })));
    expect((await manage.playlist(list)).playlist.trackIds).to.have.members(Object.values(tracks));
  });

  it("imports no file without a folder", async () => {
    const document = { tracks: [{ ...RAIN, audio_file: "rain.wav" }] };
    const error: unknown = await test.app.library.import(document).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(issuesOf(error)).to.deep.equal(["tracks[0].audio_file: there is no folder to take it from"]);
  });
});

describe("An import that fails after its files were checked", () => {
  let storage: StorageUnderTest;
  let folder: string;
  let audio: LocalAudioStore;
  const logger = new RecordingLogger();
  beforeEach(async () => {
    storage = await sqliteStorage.open();
    folder = await mkdtemp(join(tmpdir(), "fermata-import-"));
    audio = await LocalAudioStore.open(folder);
  });
  afterEach(async () => {
    await storage.close();
    await rm(folder, { recursive: true });
  });

  const files: ImportFiles = {
    open: () =>
      Promise.resolve({
        sizeBytes: SILENCE_WAV.length,
        head: SILENCE_WAV.subarray(0, 64),
        read: () => once(SILENCE_WAV),
      }),
  };
  const document = { tracks: ["a", "b"].map((ref) => ({ ...RAIN, ref, audio_file: `${ref}.wav` })) };
  type Given = Partial<ImportLibraryDeps> & { readonly unitOfWork?: UnitOfWork };
  const run = async ({ unitOfWork = storage.unitOfWork, ...parts }: Given, given = files): Promise<unknown> => {
    const { library, accounts } = storage;
    const audit = unrecorded(unitOfWork);
    const derived = { deriveFor: <T>(track: T) => Promise.resolve(track) };
    const clock = { now: () => 1, sleep: () => Promise.resolve() };
    const ids = { next: anId };
    const ports = { audit, library, accounts, audio, derived, clock, ids, logger, maxBytes: 1_000_000, ...parts };
    return new ImportLibrary(ports).execute(document, given).catch((error: unknown) => error);
  };
  const stored = async (): Promise<readonly string[]> =>
    (await filesUnder(folder)).map((path) => path.replace(/^trk_[^/]+/, "trk"));
  const found = async (): Promise<number> =>
    (await storage.library.searchTracks({ viewer: anId("acct"), words: [], mood: null, activity: null, limit: 25 }))
      .items.length;

  it("leaves nothing behind when a file cannot be stored", async () => {
    let puts = 0;
    const broken = new FaultyPort(audio).failOn(
      "put",
      () => new Error("disk is full"),
      () => ++puts === 2,
    );
    expect(await run({ audio: broken }))
      .to.be.instanceOf(Error)
      .with.property("message", "disk is full");
    expect([puts, await stored(), await found()]).to.deep.equal([2, [], 0]);
  });

  it("leaves nothing behind when a file has changed since it was checked", async () => {
    let opened = 0;
    const hello = Buffer.from("hello");
    const other = { sizeBytes: 5, head: hello, read: () => once(hello) };
    const error = await run({}, { open: (path) => (++opened === 4 ? Promise.resolve(other) : files.open(path)) });
    expect(issuesOf(error)).to.deep.equal(["tracks[1].audio_file: holds none of mp3, wav, flac, ogg, m4a"]);
    expect([await stored(), await found()]).to.deep.equal([[], 0]);
  });

  it("leaves nothing behind when the rows cannot be written", async () => {
    const unitOfWork = { concurrentWriters: 1, inTransaction: () => Promise.reject(new Error("no room")) };
    expect(await run({ unitOfWork }))
      .to.be.instanceOf(Error)
      .with.property("message", "no room");
    expect([await stored(), await found()]).to.deep.equal([[], 0]);
  });

  it("succeeds when only the reply to its commit was lost", async () => {
    const unitOfWork: UnitOfWork = {
      concurrentWriters: 1,
      async inTransaction(work) {
        await storage.inTransaction(work);
        throw new Error("connection lost");
      },
    };
    const created = (await run({ unitOfWork })) as { readonly tracks: readonly object[] };
    expect(created.tracks).to.have.length(2);
    expect([await stored(), await found()]).to.deep.equal([["trk/mix.wav", "trk/mix.wav"], 2]);
  });

  it("keeps the files when it is unknown whether the rows were stored", async () => {
    const unitOfWork = { concurrentWriters: 1, inTransaction: () => Promise.reject(new Error("connection lost")) };
    const library = new FaultyPort(storage.library).failOn("findTracks", () => new Error("unavailable"));
    expect(await run({ unitOfWork, library }))
      .to.be.instanceOf(Error)
      .with.property("message", "connection lost");
    expect(await stored()).to.have.length(2);
  });

  it("stores its rows once, although the transaction ran twice", async () => {
    const unitOfWork: UnitOfWork = {
      concurrentWriters: 1,
      async inTransaction(work) {
        await storage.inTransaction(work);
        return storage.inTransaction((tx) => work(tx, { isRetry: true }));
      },
    };
    await run({ unitOfWork });
    expect(await found()).to.equal(2);
  });
});

function issuesOf(error: unknown): string[] {
  expect(error).to.be.instanceOf(ImportRefusedError);
  return (error as ImportRefusedError).issues.map(({ path, message }) => `${path}: ${message}`);
}

async function* once(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield bytes;
}
