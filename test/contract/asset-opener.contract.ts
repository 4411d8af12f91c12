import { expect } from "chai";
import type { AssetOpener, OpenedAsset } from "../../core/ports/asset-opener.js";
import { type AssetContentType, type AssetSource, ProviderFailure } from "../../core/ports/music-provider.js";
import { responding, cutting, type FileHost, serving } from "../support/file-host.js";
import { tinyMp3, tinyPng, tinyWav, tinyZip } from "../support/provider-kit/sounds.js";

/** An opener that may download from a file server of the test. */
export interface AssetOpenerUnderTest {
  readonly opener: AssetOpener;
  /** A server from which downloads are allowed. */
  readonly host: FileHost;
  close(): Promise<void>;
}

const MAX_BYTES = 1_000_000;

/** More than one read returns. */
const LONG = Buffer.concat([tinyWav(), Buffer.alloc(400_000, "sound")]);

export async function contentOf({ bytes }: Pick<OpenedAsset, "bytes">): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of bytes) parts.push(part);
  return Buffer.concat(parts);
}

/** The failure of an operation that must fail. */
export async function failureOf(work: Promise<unknown>): Promise<ProviderFailure> {
  const error: unknown = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!ProviderFailure.is(error)) throw new Error(`It is no ProviderFailure: ${String(error)}`);
  return error;
}

/**
 * The promises of every `AssetOpener`.
 *
 * @param open called once for the suite
 */
export function assetOpenerContract(name: string, open: () => Promise<AssetOpenerUnderTest>): void {
  describe(`AssetOpener contract: ${name}`, () => {
    let subject: AssetOpenerUnderTest;
    before(async () => {
      subject = await open();
    });
    after(() => subject.close());

    const openSource = (source: AssetSource, maxBytes = MAX_BYTES): Promise<OpenedAsset> =>
      subject.opener.open(source, { maxBytes, signal: new AbortController().signal });
    const all = async (source: AssetSource, maxBytes?: number): Promise<Buffer> =>
      contentOf(await openSource(source, maxBytes));
    const kindOf = async (source: AssetSource, maxBytes?: number): Promise<string> =>
      (await failureOf(all(source, maxBytes))).kind;

    const file = tinyMp3("contract");
    const sources = (bytes: Uint8Array): readonly AssetSource[] => {
      const zip = tinyZip({ "folder/song.mp3": bytes, "notes.txt": new Uint8Array(10) });
      return [
        { kind: "bytes", bytes },
        {
          kind: "stream",
          async *open() {
            yield bytes.subarray(0, 3);
            yield bytes.subarray(3);
          },
        },
        { kind: "text", encoding: "base64", text: Buffer.from(bytes).toString("base64") },
        { kind: "text", encoding: "hex", text: Buffer.from(bytes).toString("hex") },
        { kind: "url", url: subject.host.on("/file", serving(bytes)) },
        { kind: "archive", archive: { kind: "bytes", bytes: zip }, entry: "folder/song.mp3" },
        { kind: "archive", archive: { kind: "url", url: subject.host.on("/zip", serving(zip)) }, entry: "song.mp3" },
      ];
    };

    it("returns the same bytes from every source", async () => {
      for (const source of sources(file)) expect((await all(source)).equals(file), source.kind).to.equal(true);
    });

    it("detects the type by the first bytes, whatever the declared type", async () => {
      const files: readonly (readonly [AssetContentType, Uint8Array])[] = [
        ["audio/mpeg", file],
        ["audio/wav", tinyWav()],
        ["image/png", tinyPng()],
      ];
      for (const [contentType, bytes] of files) {
        for (const source of sources(bytes)) {
          const opened = await openSource(source);
          expect(opened.contentType, source.kind).to.equal(contentType);
          await contentOf(opened);
        }
      }
    });

    it("refuses empty files and those that are neither audio nor an image", async () => {
      for (const bytes of [Buffer.from("<html>Sign in, please</html>"), new Uint8Array()]) {
        for (const source of sources(bytes)) expect(await kindOf(source), source.kind).to.equal("failed");
      }
    });

    it("accepts exactly as many bytes as allowed, and no more", async () => {
      for (const source of sources(file))
        expect(await all(source, file.length), source.kind).to.have.lengthOf(file.length);
      for (const source of sources(file)) expect(await kindOf(source, file.length - 1), source.kind).to.equal("failed");
    });

    it("refuses text with a stray character", async () => {
      const [base64, hex] = [Buffer.from(file).toString("base64"), Buffer.from(file).toString("hex")];
      for (const text of [
        `${base64} `,
        `\n${base64}`,
        `${base64}=`,
        base64.replace(/^./, "-"),
        `data:audio/mpeg;base64,${base64}`,
        `${base64.slice(0, 8)}=${base64.slice(8)}`,
      ]) {
        expect(await kindOf({ kind: "text", encoding: "base64", text }), text.slice(0, 20)).to.equal("failed");
      }
      for (const text of [`${hex} `, hex.slice(1), `0x${hex}`, hex.replace(/^../, "zz")]) {
        expect(await kindOf({ kind: "text", encoding: "hex", text }), text.slice(0, 20)).to.equal("failed");
      }
    });

    it("fails with `gone` for a deleted file, and with `unavailable` for a temporary failure", async () => {
      for (const status of [404, 410])
        expect(await kindOf({ kind: "url", url: subject.host.on("/x", responding(status)) })).to.equal("gone");
      for (const status of [408, 425, 429, 500, 502, 503]) {
        expect(await kindOf({ kind: "url", url: subject.host.on("/x", responding(status)) }), String(status)).to.equal(
          "unavailable",
        );
      }
      expect(await kindOf({ kind: "url", url: "http://127.0.0.1:1/closed" })).to.equal("unavailable");
      const broken = { kind: "stream", open: () => brokenStream(file) } as const;
      expect(await kindOf(broken)).to.equal("unavailable");
    });

    it("rethrows a failure of a plugin's stream", async () => {
      const gone = new ProviderFailure("gone", "It was deleted.");
      expect(await failureOf(all({ kind: "stream", open: () => brokenStream(file, gone) }))).to.equal(gone);
    });

    it("resumes an interrupted download", async () => {
      const url = subject.host.on(
        "/long",
        cutting(LONG, [100_000, 250_000], { "Accept-Ranges": "bytes", ETag: '"1"' }),
      );
      expect((await all({ kind: "url", url })).equals(LONG)).to.equal(true);
    });

    it("fails with `unavailable` when the server cannot resume an interrupted download", async () => {
      expect(await kindOf({ kind: "url", url: subject.host.on("/long", cutting(LONG, [100_000])) })).to.equal(
        "unavailable",
      );
    });

    it("reads nothing more after it is closed early, even before the first byte", async () => {
      let isClosed = false;
      async function* endless(): AsyncGenerator<Uint8Array> {
        try {
          for (;;) yield tinyWav();
        } finally {
          isClosed = true;
        }
      }
      const { bytes } = await openSource({ kind: "stream", open: endless });
      await bytes[Symbol.asyncIterator]().return?.();
      expect(isClosed).to.equal(true);
    });
  });
}

async function* brokenStream(file: Uint8Array, error: Error = new Error("socket hang up")): AsyncGenerator<Uint8Array> {
  yield file;
  throw error;
}
