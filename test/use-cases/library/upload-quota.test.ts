import { expect } from "chai";
import {
  AccountSuspendedError,
  InvalidRequestError,
  PayloadTooLargeError,
  ServiceUnavailableError,
  UnknownObjectError,
} from "../../../core/errors.js";
import type { AccountId } from "../../../core/ids.js";
import type { TrackUpload } from "../../../core/library/upload-track.js";
import { AudioUnreadableError } from "../../../core/ports/audio-analyser.js";
import { anId } from "../../support/builders.js";
import { OPTIONS } from "../../support/core-options.js";
import { SCRIPTED_AUDIO, scriptedBytes } from "../../support/doubles/scripted-provider.js";
import { type MemoryCore, memoryCore } from "../../support/memory-core.js";

const HOUR_MS = 3_600_000;
const failure = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error);
const tiers = OPTIONS.tiers.map((tier) => ({ ...tier, uploads: { maxTracks: 2, maxBytes: 2_500 } }));

async function* stream(...chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

describe("An upload", () => {
  let memory: MemoryCore;
  let accountId: AccountId;
  let analysis: () => Promise<unknown>;
  beforeEach(() => open());

  async function open(uploads: Partial<typeof OPTIONS.uploads> = {}): Promise<void> {
    analysis = () => Promise.resolve(null);
    memory = await memoryCore({
      options: { tiers, uploads: { maxBytes: 1_500, maxSeconds: 60, decodes: false, ...uploads } },
      ports: () => ({
        audioAnalyser: { analyse: () => analysis() as never, close: () => Promise.resolve() },
        coverPainter: { paint: () => Promise.resolve(scriptedBytes("image/png")) },
      }),
    });
    accountId = (await memory.storage.addAccount()).id;
  }
  const upload = (given: Partial<TrackUpload> = {}) =>
    memory.core.api.uploadTrack.execute({ accountId, audio: SCRIPTED_AUDIO, ...given });
  const messageOf = async (work: Promise<unknown>): Promise<string> => {
    const refused = (await failure(work)) as InvalidRequestError;
    expect(refused).to.be.instanceOf(InvalidRequestError);
    const [issue] = (refused.details as { issues: { path: string; message: string }[] }).issues;
    return `${issue?.path} ${issue?.message}`;
  };
  const pending = async (): Promise<number> =>
    (await memory.storage.inTransaction((tx) => memory.storage.uploads.usageOf(tx, accountId, 0))).tracks;

  it("becomes a private track, by its first bytes", async () => {
    const track = await upload({ title: "Rain\u200b" });
    expect(track).to.deep.include({
      ...{ accountId, title: "Rain", artistLabel: "Upload", visibility: "private", jobId: null, position: 0 },
      ...{ bpm: null, prompt: null, shareToken: null, linkGeneration: 0, origin: null, createdAt: memory.clock.now() },
    });
    const mix = track.assets.find(({ role }) => role === "mix");
    expect(mix).to.include({
      ...{ label: "full", audioKey: `${track.id}/mix.mp3`, contentType: "audio/mpeg", sizeBytes: 1_000 },
    });
    expect(await memory.core.library.read.track(accountId, track.id)).to.include({ id: track.id });
    expect(await memory.storage.uploads.findUploads([track.id])).to.have.property("size", 1);
    expect(await memory.storage.auditLog.list({ limit: 1 })).to.deep.equal([]);
  });

  it("may come in parts, and has no title where none is given", async () => {
    const parts = [SCRIPTED_AUDIO.subarray(0, 3), SCRIPTED_AUDIO.subarray(3, 900), SCRIPTED_AUDIO.subarray(900)];
    const track = await upload({ audio: stream(...parts), sizeBytes: 1_000 });
    expect(track.title).to.equal("Untitled");
    const bytes: Uint8Array[] = [];
    for await (const chunk of memory.audio.read(`${track.id}/mix.mp3`)) bytes.push(chunk);
    expect(Buffer.concat(bytes).equals(SCRIPTED_AUDIO)).to.equal(true);
    expect(await upload({ title: () => "Read last" })).to.include({ title: "Read last" });
  });

  it("by an operator is recorded", async () => {
    const track = await memory.core.library.operateUploads.execute({ accountId, audio: SCRIPTED_AUDIO });
    const [record] = await memory.storage.auditLog.list({ limit: 1 });
    expect(record).to.deep.include({
      ...{ action: "library.upload", accountId, targets: [track.id], fields: { bytes: 1_000 } },
    });
  });

  it("is refused where it is no audio, or its title cannot be, and nothing is left of it", async () => {
    expect(await messageOf(upload({ audio: Buffer.from("no audio") }))).to.include(
      "body.audio must be audio: MP3, WAV",
    );
    expect(await messageOf(upload({ audio: new Uint8Array() }))).to.include("body.audio must be audio");
    expect(await messageOf(upload({ title: "" }))).to.include("body.title");
    expect(await messageOf(upload({ title: () => "a\nb" }))).to.include("body.title");
    expect(memory.audio.keys).to.deep.equal([]);
    expect(await pending()).to.equal(0);
  });

  it("is refused for an account that is not there, or suspended", async () => {
    for (const unknown of ["nonsense", anId("acct")])
      expect(await failure(upload({ accountId: unknown }))).to.be.instanceOf(UnknownObjectError);
    const { id } = await memory.storage.addAccount({ suspendedAt: 1 });
    expect(await failure(upload({ accountId: id }))).to.be.instanceOf(AccountSuspendedError);
  });

  it("is refused when the file is larger than one may be", async () => {
    const large = Buffer.concat([SCRIPTED_AUDIO, new Uint8Array(501)]);
    expect(await failure(upload({ audio: large }))).to.be.instanceOf(PayloadTooLargeError);
    expect(await failure(upload({ audio: stream(large) }))).to.be.instanceOf(PayloadTooLargeError);
    expect(memory.audio.keys).to.deep.equal([]);
    await upload({ audio: large.subarray(0, 1_500) });
  });

  it("is refused beyond the tracks and bytes of the account's tier, also of uploads under way", async () => {
    await upload();
    const fits = Buffer.concat([SCRIPTED_AUDIO, new Uint8Array(500)]);
    await upload({ audio: fits });
    expect(await messageOf(upload())).to.equal("body.audio does not fit: the account's tier allows 2 uploaded tracks");
    const { id } = await memory.storage.addAccount();
    const under = {
      trackId: anId("trk"),
      accountId: id,
      sizeBytes: 2_500,
      createdAt: memory.clock.now(),
      storedAt: null,
    };
    await memory.storage.inTransaction((tx) => memory.storage.uploads.insertUpload(tx, under));
    const bytes = "body.audio does not fit: the account's tier allows 2500 bytes of uploads";
    expect(await messageOf(upload({ accountId: id }))).to.equal(bytes);
    await memory.clock.advance(HOUR_MS + 1);
    await upload({ accountId: id });
    const left = Buffer.concat([SCRIPTED_AUDIO, new Uint8Array(600)]);
    expect(await failure(upload({ accountId: id, audio: left }))).to.be.instanceOf(PayloadTooLargeError);
  });

  it("is refused for its bytes where less is left than one file may have", async () => {
    await open({ maxBytes: 2_400 });
    await upload();
    const left = Buffer.concat([SCRIPTED_AUDIO, new Uint8Array(501)]);
    expect(await messageOf(upload({ audio: left }))).to.include("the account's tier allows 2500 bytes");
  });

  it("is given up when it takes an hour", async () => {
    async function* slow(): AsyncGenerator<Uint8Array> {
      yield SCRIPTED_AUDIO;
      memory.clock.set(memory.clock.now() + HOUR_MS);
    }
    const late = await failure(upload({ audio: slow() }));
    expect(late).to.be.instanceOf(ServiceUnavailableError);
    expect(String(late)).to.include("The upload took too long.");
    expect(memory.audio.keys).to.deep.equal([]);
  });

  it("that is decoded is refused when it cannot be, or plays too long", async () => {
    await open({ decodes: true });
    analysis = () => Promise.reject(new AudioUnreadableError("no frames"));
    expect(await messageOf(upload())).to.include("body.audio must be audio that can be decoded: MP3, WAV");
    expect(memory.logger.lines[0]).to.include({ level: "info", message: "An upload could not be decoded" });
    expect(memory.logger.lines[0]?.fields).to.include({ account_id: accountId });
    expect(memory.audio.keys).to.deep.equal([]);
    analysis = () => Promise.reject(new Error("The decoder is gone."));
    expect(String(await failure(upload()))).to.include("The decoder is gone.");
  });

  it("fails with the error of its source, and leaves nothing", async () => {
    let isClosed = false;
    async function* broken(): AsyncGenerator<Uint8Array> {
      try {
        yield SCRIPTED_AUDIO.subarray(0, 100);
        throw new Error("The client is gone.");
      } finally {
        isClosed = true;
      }
    }
    expect(String(await failure(upload({ audio: broken() })))).to.include("The client is gone.");
    expect([isClosed, memory.audio.keys, await pending()]).to.deep.equal([true, [], 0]);
    memory.audio.deleteAll = () => Promise.reject(new Error("It is locked."));
    await failure(upload({ audio: broken() }));
    expect(memory.logger.lines.at(-1)?.message).to.equal("What is left of an upload could not be deleted");
    expect(await pending()).to.equal(1);
  });
});
