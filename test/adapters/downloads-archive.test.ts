import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { type Zippable, zipSync } from "fflate";
import type { GuardedAssetOpener } from "../../adapters/downloads/asset-opener.js";
import { type AssetSource, ProviderFailure } from "../../core/ports/music-provider.js";
import { contentOf, failureOf } from "../contract/asset-opener.contract.js";
import { tinyMp3, tinyWav } from "../support/provider-kit/sounds.js";
import { openerFor, openWith } from "./downloads-support.js";

const SONG = tinyMp3("archive");

describe("GuardedAssetOpener with archives", () => {
  let folder: string;
  let opener: GuardedAssetOpener;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "fermata-zip-"));
    opener = openerFor({ temporaryFolder: folder });
  });
  afterEach(async () => {
    await opener.close();
    await rm(folder, { recursive: true });
  });

  const inZip = (zip: Uint8Array, entry = "song.mp3"): AssetSource => ({
    kind: "archive",
    archive: { kind: "bytes", bytes: zip },
    entry,
  });
  const load = async (source: AssetSource, maxBytes = 1_000_000): Promise<Buffer> =>
    contentOf(await openWith(opener, source, { maxBytes }));
  const refusal = async (zip: Uint8Array, maxBytes?: number, entry?: string): Promise<ProviderFailure> => {
    const refused = await failureOf(load(inZip(zip, entry), maxBytes));
    expect(await readdir(folder)).to.deep.equal([]);
    return refused;
  };
  const zipOf = (files: Zippable): Uint8Array => zipSync(files);

  it("takes the entry of exactly this name before one that is only called so", async () => {
    const zip = zipOf({
      "a/song.mp3": tinyMp3("other"),
      "b/song.mp3": tinyMp3("another"),
      "song.mp3": SONG,
      "b/": new Uint8Array(),
    });
    expect((await load(inZip(zip))).equals(SONG)).to.equal(true);
    expect((await load(inZip(zip, "b/song.mp3"))).equals(tinyMp3("another"))).to.equal(true);
    expect((await load(inZip(zip, "elsewhere/song.mp3"))).equals(tinyMp3("other"))).to.equal(true);
  });

  it("reads stored and deflated entries", async () => {
    for (const level of [0, 9] as const)
      expect((await load(inZip(zipSync({ "song.mp3": [SONG, { level }] })))).equals(SONG)).to.equal(true);
  });

  it("refuses what is no ZIP, one that is cut, and one without the entry", async () => {
    const zip = zipOf({ "x/song.mp3": SONG });
    for (const bytes of [SONG, new Uint8Array(), zip.subarray(0, zip.length - 30), zip.subarray(50)])
      expect(await refusal(bytes)).to.include({ kind: "failed" });
    expect(await refusal(zip, undefined, "song.wav")).to.include({
      kind: "failed",
      message: 'The ZIP has no "song.wav".',
    });
    expect(await refusal(zip, undefined, "x/")).to.include({ kind: "failed" });
    expect(await refusal(zip, undefined, "SONG.MP3")).to.include({ kind: "failed" });
  });

  it("refuses an entry that is encrypted", async () => {
    const zip = Buffer.from(zipOf({ "song.mp3": SONG }));
    for (const [signature, offset] of [
      ["PK\x03\x04", 6],
      ["PK\x01\x02", 8],
    ] as const) {
      const at = zip.indexOf(signature, 0, "latin1") + offset;
      zip.writeUInt16LE(zip.readUInt16LE(at) | 1, at);
    }
    expect((await refusal(zip)).message).to.equal('The "song.mp3" of the ZIP is encrypted.');
  });

  it("refuses an entry that is not what its sum says", async () => {
    const zip = Buffer.from(zipSync({ "song.mp3": [SONG, { level: 0 }] }));
    const at = zip.indexOf(Buffer.from(SONG)) + SONG.length - 1;
    zip.writeUInt8(zip.readUInt8(at) ^ 1, at);
    expect((await refusal(zip)).message).to.equal('The "song.mp3" of the ZIP is damaged.');
  });

  it("keeps its bounds, whatever the table of contents says", async () => {
    const bomb = Buffer.from(
      zipSync({ "song.mp3": [Buffer.concat([tinyWav(), Buffer.alloc(50_000_000)]), { level: 9 }] }),
    );
    expect((await refusal(bomb, 100_000)).message).to.include("larger than 100000 bytes");
    const at = bomb.indexOf("PK\x01\x02", 0, "latin1") + 24;
    bomb.writeUInt32LE(1_000, at);
    expect(await refusal(bomb, 100_000)).to.include({ kind: "failed" });
  });

  it("takes an archive that is up to four times as large", async () => {
    const padding = Buffer.from(Array.from({ length: 4 * SONG.length }, (_, index) => (index * 2_654_435_761) >>> 24));
    const zip = zipSync({ "song.mp3": SONG, "rest.bin": [padding.subarray(0, 2 * SONG.length), { level: 0 }] });
    expect(await load(inZip(zip), SONG.length)).to.have.lengthOf(SONG.length);
    expect(await refusal(zipSync({ "song.mp3": SONG, "rest.bin": [padding, { level: 0 }] }), SONG.length)).to.include({
      kind: "failed",
    });
  });

  it("refuses names that lead out of the archive, and never writes under any", async () => {
    for (const name of ["../song.mp3", "/etc/song.mp3", "a/../../song.mp3"])
      expect(await refusal(zipOf({ [name]: SONG })), name).to.include({ kind: "failed" });
  });

  it("leaves no file behind, read, left unread, or interrupted", async () => {
    const zip = zipOf({ "song.mp3": SONG });
    await load(inZip(zip));
    expect(await readdir(folder)).to.deep.equal([]);
    const { bytes } = await openWith(opener, inZip(zip));
    expect(await readdir(folder)).to.have.lengthOf(1);
    await bytes[Symbol.asyncIterator]().return?.();
    expect(await readdir(folder)).to.deep.equal([]);
    const broken = new ProviderFailure("unavailable", "The stream was interrupted.");
    async function* half(): AsyncGenerator<Uint8Array> {
      yield zip.subarray(0, 50);
      throw broken;
    }
    expect(
      await failureOf(load({ kind: "archive", archive: { kind: "stream", open: half }, entry: "song.mp3" })),
    ).to.equal(broken);
    expect(await readdir(folder)).to.deep.equal([]);
  });

  it("refuses more entries than any provider packs, before it reads their names", async () => {
    const many = zipSync(
      Object.fromEntries(Array.from({ length: 10_001 }, (_, index) => [`${index}.mp3`, new Uint8Array()])),
      { level: 0 },
    );
    expect((await refusal(many, 10_000_000, "10000.mp3")).message).to.equal("The ZIP has more than 10000 entries.");
  });

  it("unpacks no archive within an archive", async () => {
    const nested = zipSync({ "song.mp3": zipSync({ "song.mp3": zipSync({ "song.mp3": SONG }) }) });
    expect((await refusal(nested)).message).to.match(
      /^It is neither audio nor an image that may be stored; allowed: audio\/mpeg, /,
    );
  });

  it("reads archives in a process that is killed when it takes too much, and then the next one", async () => {
    const kept = process.memoryUsage.rss();
    let peak = 0;
    const onUsage = ({ residentBytes }: { readonly residentBytes: number }): number =>
      (peak = Math.max(peak, residentBytes));
    const strict = openerFor({ temporaryFolder: folder, archives: { limits: { memoryBytes: 1 }, onUsage } });
    const error = await failureOf(openWith(strict, inZip(zipOf({ "song.mp3": SONG }))));
    expect(error.kind).to.equal("failed");
    expect(error.message).to.match(/^The ZIP cannot be read: it took more than/);
    expect(await readdir(folder)).to.deep.equal([]);
    await strict.close();
    const bomb = zipSync({ "song.mp3": [Buffer.concat([tinyWav(), Buffer.alloc(60_000_000)]), { level: 9 }] });
    const other = openerFor({ temporaryFolder: folder, archives: { onUsage } });
    expect(
      (
        await failureOf(
          contentOf(
            await openWith(other, inZip(bomb), { maxBytes: 100_000_000 }).then(({ bytes }) => ({
              contentType: "audio/wav" as const,
              bytes: stopAfter(bytes, 1_000_000),
            })),
          ),
        )
      ).message,
    ).to.equal("that is enough");
    expect((await contentOf(await openWith(other, inZip(zipOf({ "song.mp3": SONG }))))).equals(SONG)).to.equal(true);
    await other.close();
    expect(peak).to.be.below(320 * 1024 * 1024);
    expect(process.memoryUsage.rss() - kept).to.be.below(256 * 1024 * 1024);
  }).timeout(60_000);

  it("stops when its caller stops waiting, with a transient failure", async () => {
    const abort = new AbortController();
    const { bytes } = await openWith(opener, inZip(zipOf({ "song.mp3": SONG })), { signal: abort.signal });
    abort.abort();
    const iterator = bytes[Symbol.asyncIterator]();
    const rest = async (): Promise<void> => {
      while ((await iterator.next()).done !== true);
    };
    expect(await failureOf(rest())).to.include({ kind: "unavailable" });
    expect(await readdir(folder)).to.deep.equal([]);
    expect(await failureOf(openWith(opener, inZip(zipOf({ "song.mp3": SONG })), { signal: abort.signal }))).to.include({
      kind: "unavailable",
    });
  });
});

async function* stopAfter(bytes: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array> {
  let length = 0;
  for await (const chunk of bytes) {
    length += chunk.length;
    if (length > maxBytes) throw new ProviderFailure("failed", "that is enough");
    yield chunk;
  }
}
