import { expect } from "chai";
import { ServiceUnavailableError } from "../../../core/errors.js";
import type { AccountId } from "../../../core/ids.js";
import { ImportLibrary, ImportRefusedError } from "../../../core/library/import-library.js";
import { type ImportFile, ImportFileError, type ImportFiles } from "../../../core/ports/import-files.js";
import { AuditTrail } from "../../../core/audit/audit-trail.js";
import { anId } from "../../support/builders.js";
import { FaultyPort } from "../../support/doubles/faulty-port.js";
import { SCRIPTED_AUDIO } from "../../support/doubles/scripted-provider.js";
import { type MemoryCore, memoryCore } from "../../support/memory-core.js";

const failure = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error);

describe("An import", () => {
  let memory: MemoryCore;
  let accountId: AccountId;
  /** By name; a test may change what is opened later. */
  let files: Map<string, Uint8Array>;
  beforeEach(async () => {
    memory = await memoryCore();
    accountId = (await memory.storage.addAccount()).id;
    files = new Map([["rain.mp3", SCRIPTED_AUDIO]]);
  });

  const folder: ImportFiles = {
    open: async (path) => {
      const bytes = files.get(path);
      if (bytes === undefined) throw new ImportFileError("does not exist");
      const file: ImportFile = {
        sizeBytes: bytes.length,
        head: bytes.subarray(0, 64),
        async *read() {
          yield bytes;
        },
      };
      return file;
    },
  };
  const importing = (given: Partial<ConstructorParameters<typeof ImportLibrary>[0]> = {}): ImportLibrary => {
    const audit = new AuditTrail({ ...memory.ports, actor: () => ({ name: "alice", why: null }) });
    const derived = { deriveFor: <T>(track: T) => Promise.resolve(track) } as never;
    return new ImportLibrary({ ...memory.ports, audit, derived, maxBytes: 1_000_000, ...given });
  };
  const track = (ref: string, given: object = {}): object => ({
    ...{ ref, account: accountId, visibility: "private", title: `Title ${ref}`, artist_label: "Nightingale" },
    ...given,
  });
  const playlist = (ref: string, tracks: readonly string[], given: object = {}): object => ({
    ...{ ref, account: accountId, visibility: "private", title: `List ${ref}`, tracks },
    ...given,
  });
  const issuesOf = async (work: Promise<unknown>): Promise<string[]> => {
    const refused = (await failure(work)) as ImportRefusedError;
    expect(refused).to.be.instanceOf(ImportRefusedError);
    return refused.issues.map(({ path, message }) => `${path} ${message}`);
  };

  it("brings in tracks with their files, and playlists of them, and is recorded", async () => {
    const document = {
      tracks: [
        track("a", { audio_file: "rain.mp3", bpm: 96, prompt: "rain", tags: { mood: ["calm"] } }),
        track("b", { title: "\u200b" }),
      ],
      playlists: [playlist("p", ["b", "a"])],
    };
    const imported = await importing().execute(document, folder);
    expect(imported.tracks.map(({ ref }) => ref)).to.deep.equal(["a", "b"]);
    const [a, b] = imported.tracks.map(({ id }) => id) as [`trk_${string}`, `trk_${string}`];
    const stored = await memory.storage.library.findTracks([a, b]);
    expect(stored.get(a)).to.deep.include({
      ...{ accountId, visibility: "private", title: "Title a", artistLabel: "Nightingale", bpm: 96, prompt: "rain" },
      ...{ jobId: null, position: 0, waveform: null, shareToken: null, linkGeneration: 0, origin: null },
      tags: { mood: ["calm"], activity: [], genre: [], other: [] },
      createdAt: memory.clock.now(),
    });
    expect(stored.get(a)?.assets).to.deep.equal([
      {
        ...{ role: "mix", label: "full", audioKey: `${a}/mix.mp3`, contentType: "audio/mpeg" },
        ...{ sizeBytes: SCRIPTED_AUDIO.length, durationSeconds: null },
      },
    ]);
    expect(stored.get(b)).to.deep.include({ title: "Untitled", assets: [] });
    expect(memory.audio.keys).to.deep.equal([`${a}/mix.mp3`]);
    const [list] = imported.playlists;
    const lists = await memory.storage.library.findPlaylists([list?.id ?? "pls_"]);
    expect([...lists.values()][0]).to.deep.include({ accountId, title: "List p", trackIds: [b, a] });
    const [record] = await memory.storage.auditLog.list({ limit: 1 });
    expect(record).to.deep.include({
      ...{ action: "library.import", accountId: null, targets: [a, b, list?.id] },
      fields: { tracks: 2, playlists: 1 },
    });
  });

  it("has what it holds in the storage in parts, and may hold nothing", async () => {
    const many = Array.from({ length: 501 }, (_, index) => track(`t${index}`));
    let parts = 0;
    const library = new FaultyPort(memory.storage.library).on("insertTracks", (insert, tx, tracks) => {
      parts += 1;
      expect(tracks.length).to.be.at.most(500);
      return insert(tx, tracks);
    });
    const { tracks } = await importing({ library }).execute({ tracks: many, playlists: [] }, null);
    expect([tracks.length, parts]).to.deep.equal([501, 2]);
    expect(await importing().execute({ tracks: [], playlists: [] }, null)).to.deep.equal({ tracks: [], playlists: [] });
  });

  it("is refused with every issue, and nothing is imported", async () => {
    const { id: deleted } = await memory.storage.addAccount({ deletedAt: 1 });
    files.set("text.mp3", Buffer.from("no audio at all, but long enough to have a head of sixty-four bytes and more"));
    const document = {
      tracks: [
        track("a", { account: anId("acct") }),
        track("b", { account: deleted }),
        track("c", { audio_file: "gone.mp3" }),
        track("d", { audio_file: "text.mp3" }),
      ],
      playlists: [playlist("p", ["unknown"])],
    };
    const issues = await issuesOf(importing().execute(document, folder));
    expect(issues.length).to.be.at.least(5);
    expect(issues.join("\n")).to.include("tracks[2].audio_file does not exist").and.include("tracks[3].audio_file");
    const words = String(await failure(importing().execute(document, folder)));
    expect(words).to.include(`The import has ${issues.length} issues; nothing was imported.`);
    expect(words).to.include("tracks[2].audio_file: does not exist");
    const one = await failure(
      importing().execute({ tracks: [track("c", { audio_file: "rain.mp3" })], playlists: [] }, null),
    );
    expect(String(one)).to.include("The import has 1 issue; nothing was imported.");
    expect(String(one)).to.include("tracks[0].audio_file: there is no folder to take it from");
    expect(memory.audio.keys).to.deep.equal([]);
    expect((await memory.core.library.read.search(accountId)).tracks).to.deep.equal([]);
  });

  it("is refused, and leaves no file, when a file changed since it was looked at", async () => {
    let opened = 0;
    const changing: ImportFiles = {
      open: (path) => {
        opened += 1;
        if (opened === 3) files.delete("rain.mp3");
        return folder.open(path);
      },
    };
    const tracks = ["a", "b"].map((ref) => track(ref, { audio_file: "rain.mp3" }));
    expect(await issuesOf(importing().execute({ tracks, playlists: [] }, changing))).to.have.length(1);
    expect(memory.audio.keys).to.deep.equal([]);
  });

  it("is refused when a file grows beyond what one may have", async () => {
    const issues = await issuesOf(
      importing({ maxBytes: 10 }).execute({ tracks: [track("a", { audio_file: "rain.mp3" })], playlists: [] }, folder),
    );
    expect(issues[0]).to.include("tracks[0].audio_file");
    const growing: ImportFiles = {
      open: async (path) => {
        const file = await folder.open(path);
        return {
          ...file,
          read: async function* () {
            yield* file.read();
            yield new Uint8Array(1_000_000);
          },
        };
      },
    };
    const grown = importing().execute({ tracks: [track("a", { audio_file: "rain.mp3" })], playlists: [] }, growing);
    expect((await issuesOf(grown))[0]).to.include("tracks[0].audio_file");
    expect(memory.audio.keys).to.deep.equal([]);
  });

  it("fails with another error of a folder as it is", async () => {
    const broken: ImportFiles = { open: () => Promise.reject(new Error("The disk is gone.")) };
    const failed = importing().execute({ tracks: [track("a", { audio_file: "rain.mp3" })], playlists: [] }, broken);
    expect(String(await failure(failed))).to.include("The disk is gone.");
  });

  describe("whose commit fails", () => {
    const document = () => ({ tracks: [track("a", { audio_file: "rain.mp3" })], playlists: [playlist("p", ["a"])] });
    const lists = () => ({ tracks: [], playlists: [playlist("p", [])] });

    it("throws its files away, and what cannot be thrown away stays, with a warning", async () => {
      const library = new FaultyPort(memory.storage.library).failOn("insertTracks", () => new Error("no space"));
      expect(String(await failure(importing({ library }).execute(document(), folder)))).to.include("no space");
      expect(memory.audio.keys).to.deep.equal([]);
      const audio = new FaultyPort(memory.audio).failOn("deleteAll", () => new Error("It is locked."));
      expect(String(await failure(importing({ library, audio }).execute(document(), folder)))).to.include("no space");
      expect(memory.audio.keys).to.have.length(1);
      expect(memory.logger.lines.at(-1)?.message).to.equal("Files of an import could not be deleted");
    });

    it("is done all the same where only the reply was lost", async () => {
      const lossy = (isKnown: boolean) => {
        const audit = {
          ...({} as AuditTrail),
          inTransaction: async (work: never) => {
            await memory.storage.inTransaction((tx) =>
              (work as (...given: unknown[]) => Promise<void>)(tx, { isRetry: false }),
            );
            throw new ServiceUnavailableError("The reply to the commit was lost.");
          },
        } as never;
        const library = new FaultyPort(memory.storage.library);
        if (!isKnown) library.failOn("findTracks", () => new ServiceUnavailableError());
        return importing({ audit, library: library.port });
      };
      expect((await lossy(true).execute(document(), folder)).tracks).to.have.length(1);
      expect((await lossy(true).execute(lists(), null)).playlists).to.have.length(1);
      const files = memory.audio.keys.length;
      expect(await failure(lossy(false).execute(document(), folder))).to.be.instanceOf(ServiceUnavailableError);
      expect(memory.audio.keys, "its files may be named").to.have.length(files + 1);
    });

    it("is written once when it runs again after a lost reply", async () => {
      const audit = {
        inTransaction: async (work: (...given: unknown[]) => Promise<void>) => {
          await memory.storage.inTransaction((tx) => work(tx, { isRetry: false }));
          await memory.storage.inTransaction((tx) => work(tx, { isRetry: true }));
        },
      } as never;
      await importing({ audit }).execute(document(), folder);
      await importing({ audit }).execute(lists(), null);
      expect((await memory.core.library.read.search(accountId)).tracks).to.have.length(1);
      expect(await memory.core.library.read.playlists(accountId)).to.have.length(2);
    });
  });
});
