import { expect } from "chai";
import { AudioTooLargeError } from "../../core/ports/audio-store.js";
import type { AudioStore } from "../../core/ports/audio-store.js";

/** A store without files, used by one suite only. */
export interface AudioStoreUnderTest {
  readonly store: AudioStore;
  /** Whether it signs URLs of its own; false by default. */
  readonly givesLinks?: boolean;
  close(): Promise<void>;
}

const MAX_BYTES = 1_000_000;

const NOT_KEYS = [
  "",
  "/",
  "/etc/passwd",
  "..",
  "../outside",
  "trk_1/../../outside",
  "trk_1/./mix.mp3",
  "trk_1//mix.mp3",
  "trk_1/",
  ".hidden",
  "trk_1/.hidden",
  "UPPER.mp3",
  "trk_1\\..\\outside",
  "trk_1/mix.mp3\0.png",
  "trk_1/mix.mp3\n",
  "trk_1/m ix.mp3",
  "trk_1/%2e%2e/outside",
  `${"a/".repeat(100)}b`,
];

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

async function* chunks(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield bytes(text);
}

async function* failing(...texts: string[]): AsyncGenerator<Uint8Array> {
  yield* chunks(...texts);
  throw new Error("the source failed");
}

async function textOf(source: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of source) parts.push(part);
  return Buffer.concat(parts).toString("utf8");
}

async function errorOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => null,
    (error: unknown) => error,
  );
}

/**
 * The promises of every `AudioStore`.
 *
 * @param open opens a store without files, once for the suite
 */
export function audioStoreContract(name: string, open: () => Promise<AudioStoreUnderTest>): void {
  describe(`AudioStore contract: ${name}`, () => {
    let opened: AudioStoreUnderTest;
    let store: AudioStore;

    before(async () => {
      opened = await open();
      store = opened.store;
    });

    after(() => opened.close());

    it("returns the stored bytes, stored whole or in chunks", async () => {
      await store.put("trk_1/mix.mp3", bytes("all at once"), MAX_BYTES);
      await store.put("trk_1/preview.mp3", chunks("chunk ", "by ", "", "chunk"), MAX_BYTES);
      expect(await textOf(store.read("trk_1/mix.mp3"))).to.equal("all at once");
      expect(await textOf(store.read("trk_1/preview.mp3"))).to.equal("chunk by chunk");
    });

    it("returns the size, an etag and the time of storage", async () => {
      const stored = await store.put("trk_2/mix.mp3", bytes("12345"), MAX_BYTES);
      expect(stored.sizeBytes).to.equal(5);
      expect(stored.etag).to.match(/^[\x21\x23-\x7e]+$/);
      expect(Number.isSafeInteger(stored.modifiedAt)).to.equal(true);
      expect(await store.stat("trk_2/mix.mp3")).to.deep.equal(stored);
    });

    it("finds nothing under keys that were never stored", async () => {
      expect(await store.stat("trk_none/mix.mp3")).to.equal(null);
      expect(await store.stat("trk_2/mix.mp3/deeper")).to.equal(null);
      expect(await store.stat("trk_2")).to.equal(null);
      expect(await errorOf(textOf(store.read("trk_none/mix.mp3")))).to.be.instanceOf(Error);
    });

    it("stores a file without bytes", async () => {
      expect((await store.put("trk_2/empty.wav", new Uint8Array(), MAX_BYTES)).sizeBytes).to.equal(0);
      expect(await textOf(store.read("trk_2/empty.wav"))).to.equal("");
    });

    it("reads ranges with both ends included", async () => {
      await store.put("trk_3/mix.mp3", bytes("0123456789"), MAX_BYTES);
      expect(await textOf(store.read("trk_3/mix.mp3", { start: 0, end: 0 }))).to.equal("0");
      expect(await textOf(store.read("trk_3/mix.mp3", { start: 3, end: 6 }))).to.equal("3456");
      expect(await textOf(store.read("trk_3/mix.mp3", { start: 8, end: 9 }))).to.equal("89");
    });

    it("allows a reader to stop in the middle of a file", async () => {
      await store.put("trk_3/long.wav", bytes("x".repeat(500_000)), MAX_BYTES);
      for await (const part of store.read("trk_3/long.wav")) {
        expect(part.byteLength).to.be.greaterThan(0);
        break;
      }
    });

    it("replaces a file and changes the etag, even for similar contents", async () => {
      const etags = new Set<string>();
      for (const text of ["one", "two", "six", "ten"]) {
        etags.add((await store.put("trk_4/mix.mp3", bytes(text), MAX_BYTES)).etag);
        expect(await textOf(store.read("trk_4/mix.mp3"))).to.equal(text);
      }
      expect(etags.size).to.equal(4);
    });

    it("accepts exactly as many bytes as allowed", async () => {
      expect((await store.put("trk_5/mix.mp3", bytes("12345"), 5)).sizeBytes).to.equal(5);
      expect((await store.put("trk_5/mix.mp3", chunks("123", "45"), 5)).sizeBytes).to.equal(5);
    });

    it("refuses more bytes than allowed and keeps the earlier file", async () => {
      await store.put("trk_6/mix.mp3", bytes("old"), MAX_BYTES);
      for (const source of [bytes("123456"), chunks("123", "456")]) {
        expect(await errorOf(store.put("trk_6/mix.mp3", source, 5))).to.be.instanceOf(AudioTooLargeError);
        expect(await textOf(store.read("trk_6/mix.mp3"))).to.equal("old");
      }
    });

    it("stops reading a source over the limit", async () => {
      let closed = false;
      async function* endless(): AsyncGenerator<Uint8Array> {
        try {
          for (;;) yield bytes("more and ");
        } finally {
          closed = true;
        }
      }
      expect(await errorOf(store.put("trk_6/endless.mp3", endless(), 10_000))).to.be.instanceOf(AudioTooLargeError);
      expect(closed).to.equal(true);
      expect(await store.stat("trk_6/endless.mp3")).to.equal(null);
    });

    it("keeps the earlier file when the source fails, and rethrows the failure", async () => {
      await store.put("trk_7/mix.mp3", bytes("old"), MAX_BYTES);
      const error = await errorOf(store.put("trk_7/mix.mp3", failing("new but ", "not all"), MAX_BYTES));
      expect(error).to.be.instanceOf(Error).with.property("message", "the source failed");
      expect(await textOf(store.read("trk_7/mix.mp3"))).to.equal("old");
      expect(await errorOf(store.put("trk_7/other.mp3", failing("x"), MAX_BYTES))).to.be.instanceOf(Error);
      expect(await store.stat("trk_7/other.mp3")).to.equal(null);
    });

    it("keeps one whole file of several concurrent writers", async () => {
      const texts = Array.from({ length: 8 }, (_, index) => String(index).repeat(50_000));
      await Promise.all(
        texts.map((text) => store.put("trk_8/mix.mp3", chunks(text.slice(0, 10), text.slice(10)), MAX_BYTES)),
      );
      expect(texts).to.include(await textOf(store.read("trk_8/mix.mp3")));
    });

    it("deletes everything under a prefix and nothing else", async () => {
      for (const key of ["trk_9/mix.mp3", "trk_9/stems/drums.wav", "trk_90/mix.mp3", "trk_9.mp3"]) {
        await store.put(key, bytes(key), MAX_BYTES);
      }
      await store.deleteAll("trk_9");
      expect(await store.stat("trk_9/mix.mp3")).to.equal(null);
      expect(await store.stat("trk_9/stems/drums.wav")).to.equal(null);
      expect(await textOf(store.read("trk_90/mix.mp3"))).to.equal("trk_90/mix.mp3");
      expect(await textOf(store.read("trk_9.mp3"))).to.equal("trk_9.mp3");
      await store.put("trk_9/mix.mp3", bytes("again"), MAX_BYTES);
      expect(await textOf(store.read("trk_9/mix.mp3"))).to.equal("again");
    });

    it("deletes nothing when a prefix is empty, or is itself a key", async () => {
      await store.deleteAll("trk_none");
      await store.put("trk_10/mix.mp3", bytes("kept"), MAX_BYTES);
      await store.deleteAll("trk_10/mix.mp3");
      expect(await textOf(store.read("trk_10/mix.mp3"))).to.equal("kept");
    });

    it("deletes one file, and nothing with it", async () => {
      const keys = ["trk_12/1/mix.mp3", "trk_12/1/mix.mp3.bak", "trk_12/1-mix.mp3", "trk_12/2/mix.mp3"];
      for (const key of keys) await store.put(key, bytes(key), MAX_BYTES);
      await store.delete("trk_12/1/mix.mp3");
      expect(await store.stat("trk_12/1/mix.mp3")).to.equal(null);
      for (const key of keys.slice(1)) expect(await textOf(store.read(key))).to.equal(key);
      await store.delete("trk_12/1/mix.mp3.bak");
      await store.put("trk_12/1/mix.mp3", bytes("again"), MAX_BYTES);
      expect(await textOf(store.read("trk_12/1/mix.mp3"))).to.equal("again");
    });

    it("deletes nothing under a key that is not stored, or is a prefix", async () => {
      await store.put("trk_13/mix.mp3", bytes("kept"), MAX_BYTES);
      for (const key of ["trk_none/mix.mp3", "trk_13", "trk_13/mix.mp3/deeper"]) await store.delete(key);
      expect(await textOf(store.read("trk_13/mix.mp3"))).to.equal("kept");
    });

    describe("lists", () => {
      /** In order: "-" and "." come before "/", and digits and "_" after it. */
      const UNDER_LIST = ["list/0/a.mp3", "list/0/b.mp3", "list/1-a.mp3", "list/1.mp3", "list/1/mix.mp3"];
      const KEYS = ["list-1/mix.mp3", "list.mp3", ...UNDER_LIST, "list0", "list_/a/b/c/d.wav"];
      /** Everything that tests have stored is in the same store. */
      const behind = async (after: string | null, limit: number): Promise<string[]> =>
        (await store.list(after, limit)).filter(({ key }) => key.startsWith("list")).map(({ key }) => key);

      before(async () => {
        for (const key of [...KEYS].reverse()) await store.put(key, bytes(key), MAX_BYTES);
      });

      it("stored files in the order of their keys, with sizes and times", async () => {
        const listed = await store.list(null, 10_000);
        const keys = listed.map(({ key }) => key);
        expect(keys).to.deep.equal([...keys].sort());
        expect(keys.filter((key) => key.startsWith("list"))).to.deep.equal(KEYS);
        for (const { key, ...file } of listed) {
          const stored = await store.stat(key);
          expect(stored, key).to.include({ sizeBytes: file.sizeBytes });
          // Some servers list times with more digits than they return for one file.
          expect(Math.abs((stored?.modifiedAt ?? 0) - file.modifiedAt), key).to.be.below(1_000);
        }
      });

      it("page by page, each key once, wherever a page ends", async () => {
        for (const limit of [1, 2, 3, 7]) {
          const all: string[] = [];
          for (let after: string | null = "list"; ;) {
            const page = await store.list(after, limit);
            all.push(...page.map(({ key }) => key));
            if (page.length < limit) break;
            after = page.at(-1)?.key ?? null;
          }
          expect(all.filter((key) => key.startsWith("list"))).to.deep.equal(KEYS);
        }
      });

      it("from after a key that is not stored, too", async () => {
        expect(await behind("list/0", 2)).to.deep.equal(["list/0/a.mp3", "list/0/b.mp3"]);
        expect(await behind("list/0/a", 2)).to.deep.equal(["list/0/a.mp3", "list/0/b.mp3"]);
        expect(await behind("list/0/zzz", 2)).to.deep.equal(["list/1-a.mp3", "list/1.mp3"]);
        expect(await behind("list/1/", 1)).to.deep.equal(["list/1/mix.mp3"]);
        expect(await behind("list_/a/b/c/d.wav", 2)).to.deep.equal([]);
      });

      it("nothing after the last key", async () => {
        expect(await store.list("zzzz", 10)).to.deep.equal([]);
      });

      it("no deleted file", async () => {
        await store.put("list_gone/mix.mp3", bytes("x"), MAX_BYTES);
        await store.delete("list_gone/mix.mp3");
        expect(await behind("list_", 10)).to.deep.equal(["list_/a/b/c/d.wav"]);
      });
    });

    it("signs links to the file and to ranges of it when it declares that capability, and else refuses", async () => {
      expect(store.linkTo !== undefined).to.equal(opened.givesLinks ?? false);
      for (const linkTo of store.linkTo === undefined ? [] : [store.linkTo]) {
        await store.put("trk_11/mix.mp3", bytes("0123456789"), MAX_BYTES);
        const url = await linkTo("trk_11/mix.mp3", { expiresAt: Date.now() + 60_000, contentType: "audio/mpeg" });
        const whole = await fetch(url);
        expect([whole.status, whole.headers.get("content-type"), await whole.text()]).to.deep.equal([
          200,
          "audio/mpeg",
          "0123456789",
        ]);
        const part = await fetch(url, { headers: { Range: "bytes=3-5" } });
        expect([part.status, part.headers.get("content-range"), await part.text()]).to.deep.equal([
          206,
          "bytes 3-5/10",
          "345",
        ]);
        const other = await fetch(url.replace("trk_11/mix.mp3", "trk_10/mix.mp3"));
        await other.arrayBuffer();
        expect(other.status).to.equal(403);
        expect(
          await errorOf(linkTo("../outside", { expiresAt: Date.now() + 60_000, contentType: "audio/mpeg" })),
        ).to.be.instanceOf(Error);
      }
    });

    for (const key of NOT_KEYS) {
      it(`refuses ${JSON.stringify(key.length > 40 ? `${key.slice(0, 40)}…` : key)} in every operation`, async () => {
        expect(await errorOf(store.put(key, bytes("x"), MAX_BYTES))).to.be.instanceOf(Error);
        expect(await errorOf(store.stat(key))).to.be.instanceOf(Error);
        expect(await errorOf(textOf(store.read(key)))).to.be.instanceOf(Error);
        expect(await errorOf(store.deleteAll(key))).to.be.instanceOf(Error);
        expect(await errorOf(store.delete(key))).to.be.instanceOf(Error);
      });
    }
  });
}
