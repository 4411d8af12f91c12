import { ListMultipartUploadsCommand, ListObjectsV2Command } from "@aws-sdk/client-s3";
import { expect } from "chai";
import { S3AudioStore, type S3Options } from "../../adapters/audio/s3/audio-store.js";
import { PART_BYTES } from "../../adapters/audio/s3/upload.js";
import { SystemClock } from "../../adapters/system/clock.js";
import { loadAdapters } from "../../config/adapters/load.js";
import { operatorAgents } from "../../config/operator-network.js";
import { loadSettings } from "../../config/load.js";
import { ServiceUnavailableError } from "../../core/errors.js";
import type { Settings } from "../../config/settings.js";
import { type AudioStore, AudioTooLargeError } from "../../core/ports/audio-store.js";
import type { TrackId } from "../../core/ids.js";
import { audioStoreContract } from "../contract/audio-store.contract.js";
import { dataOf } from "../support/api-client.js";
import { SILENT, TEST_PORTS } from "../support/databases.js";
import { ManualClock } from "../support/doubles/manual-clock.js";
import { SCRIPTED_AUDIO } from "../support/doubles/scripted-provider.js";
import { openRelayTo, type Relay } from "../support/relay.js";
import { PAGE_OBJECTS_MAX, type S3Server, startS3Server } from "../support/s3-server.js";
import { startTestApp } from "../support/test-app.js";

const CLOCK = new SystemClock();

async function openAudio(settings: Settings): Promise<AudioStore> {
  const adapters = await loadAdapters(settings, ["audio"]);
  return adapters.get("audio").open({ ...TEST_PORTS, logger: SILENT });
}

describe("S3AudioStore", function () {
  this.timeout(60_000);
  let server: S3Server;
  const opened: S3AudioStore[] = [];
  before("start the server", async function () {
    // The first time it may have to be installed.
    this.timeout(300_000);
    server = await startS3Server();
  });
  after(async () => {
    for (const store of opened) store.close();
    await server.remove();
  });

  function storeOf(bucket: string, options: Partial<S3Options> = {}): S3AudioStore {
    const { accessKeyId, secretAccessKey } = server;
    const credentials = { accessKeyId, secretAccessKey };
    const store = new S3AudioStore({
      url: server.urlOf(bucket),
      credentials,
      clock: CLOCK,
      agents: operatorAgents,
      ...options,
    });
    opened.push(store);
    return store;
  }

  audioStoreContract("S3AudioStore", async () => {
    const store = storeOf(await server.makeBucket());
    return { store, givesLinks: true, close: async () => store.close() };
  });

  audioStoreContract("S3AudioStore without links", async () => {
    const store = storeOf(await server.makeBucket(), { givesLinks: false });
    return { store, close: async () => store.close() };
  });

  describe("with large files", () => {
    const LARGE = 2 * PART_BYTES + 1_000_000;
    const CHUNK = 300_000;
    let bucket: string;
    let store: S3AudioStore;
    beforeEach(async () => {
      bucket = await server.makeBucket();
      store = storeOf(bucket);
    });

    const sound = Buffer.from(Array.from({ length: LARGE }, (_, index) => (index * 2_654_435_761) >>> 24));
    async function* inChunks(until = LARGE, error: Error | null = null): AsyncGenerator<Uint8Array> {
      for (let at = 0; at < until; at += CHUNK) yield sound.subarray(at, Math.min(at + CHUNK, until));
      if (error !== null) throw error;
    }
    const unfinished = async (): Promise<number> =>
      (await server.client.send(new ListMultipartUploadsCommand({ Bucket: bucket }))).Uploads?.length ?? 0;

    it("stores them in parts, and reads them across the borders of parts", async () => {
      for (const source of [inChunks(), sound]) {
        expect((await store.put("trk_1/mix.wav", source, LARGE)).sizeBytes).to.equal(LARGE);
        expect((await bytesOf(store.read("trk_1/mix.wav"))).equals(sound)).to.equal(true);
        const range = { start: PART_BYTES - 5, end: 2 * PART_BYTES + 5 };
        expect(
          (await bytesOf(store.read("trk_1/mix.wav", range))).equals(sound.subarray(range.start, range.end + 1)),
        ).to.equal(true);
      }
      expect(await unfinished()).to.equal(0);
    });

    it("stores what fills its parts exactly", async () => {
      for (const size of [PART_BYTES, 2 * PART_BYTES]) {
        expect((await store.put("trk_1/full.wav", inChunks(size), LARGE)).sizeBytes).to.equal(size);
        expect((await bytesOf(store.read("trk_1/full.wav"))).equals(sound.subarray(0, size))).to.equal(true);
      }
    });

    it("leaves nothing of an upload whose source fails or holds too much", async () => {
      await store.put("trk_1/mix.wav", Buffer.from("old"), LARGE);
      const failure = new Error("the source failed");
      expect(await errorOf(store.put("trk_1/mix.wav", inChunks(LARGE, failure), LARGE))).to.equal(failure);
      expect(await errorOf(store.put("trk_1/mix.wav", inChunks(), LARGE - 1))).to.be.instanceOf(AudioTooLargeError);
      expect((await bytesOf(store.read("trk_1/mix.wav"))).toString()).to.equal("old");
      expect(await unfinished()).to.equal(0);
    });

    it("takes no more from the source than one part while the server does not answer", async () => {
      const relay = await relayTo(server);
      const slow = storeOf(bucket, { url: server.urlOf(bucket, relay.address), timeouts: { responseMs: 100 } });
      relay.freeze();
      let taken = 0;
      async function* counted(): AsyncGenerator<Uint8Array> {
        for await (const chunk of inChunks()) {
          taken += chunk.length;
          yield chunk;
        }
      }
      expect(await errorOf(slow.put("trk_1/slow.wav", counted(), LARGE))).to.be.instanceOf(ServiceUnavailableError);
      expect(taken).to.be.within(PART_BYTES, PART_BYTES + CHUNK);
      await relay.close();
    });
  });

  it("deletes by pages, whatever their number", async () => {
    const bucket = await server.makeBucket();
    const store = storeOf(bucket);
    const keys = Array.from({ length: 2 * PAGE_OBJECTS_MAX + 1 }, (_, index) => `trk_1/stems/${index}.wav`);
    for (const key of [...keys, "trk_10/mix.mp3"]) await store.put(key, Buffer.from(key), 100);
    await store.deleteAll("trk_1");
    const { Contents = [] } = await server.client.send(new ListObjectsV2Command({ Bucket: bucket }));
    expect(Contents.map(({ Key }) => Key)).to.deep.equal(["files/trk_10/mix.mp3"]);
  });

  it("keeps its objects under the prefix, each with its type", async () => {
    const bucket = await server.makeBucket();
    await storeOf(bucket).put("trk_1/mix.flac", Buffer.from("x"), 100);
    const bare = storeOf(bucket, { url: server.urlOf(bucket).replace("/files", "") });
    const link = await storeOf(bucket, { url: server.urlOf(bucket) }).linkTo?.("trk_1/mix.flac", {
      expiresAt: Date.now() + 60_000,
      contentType: "audio/flac",
    });
    expect(link).to.include(`/${bucket}/files/trk_1/mix.flac?`);
    expect(await bare.stat("files/trk_1/mix.flac")).to.include({ sizeBytes: 1 });
    expect(await bare.stat("trk_1/mix.flac")).to.equal(null);
  });

  describe("with links", () => {
    it("signs by the clock that it was given, not by the machine's", async () => {
      const behind = Date.now() - 61 * 60_000;
      const store = storeOf("music", { clock: new ManualClock(behind) });
      const wanted = { expiresAt: behind + 60_000, contentType: "audio/mpeg" };
      const link = (await store.linkTo?.("trk_1/mix.mp3", wanted)) ?? "";
      const hour = new Date(behind).toISOString().slice(0, 13).replaceAll("-", "");
      expect(new URL(link).searchParams.get("X-Amz-Date")).to.equal(`${hour}0000Z`);
    });

    it("signs the same link for a while, so that browsers reuse it, and none that outlives its time", async () => {
      const store = storeOf(await server.makeBucket());
      await store.put("trk_1/mix.mp3", Buffer.from("x"), 100);
      const link = (expiresAt: number): Promise<string> =>
        store.linkTo?.("trk_1/mix.mp3", { expiresAt, contentType: "audio/mpeg" }) ?? Promise.resolve("");
      const expiresAt = Date.now() + 3 * 3_600_000;
      const url = new URL(await link(expiresAt));
      const [day = "", time = ""] = (url.searchParams.get("X-Amz-Date") ?? "").split("T");
      const signedAt = Date.parse(`${day.replace(/(....)(..)/, "$1-$2-")}T${time.replace(/(..)(..)/, "$1:$2:")}`);
      expect(signedAt % 3_600_000).to.equal(0);
      expect(signedAt + Number(url.searchParams.get("X-Amz-Expires")) * 1000).to.be.within(
        expiresAt,
        expiresAt + 1_000,
      );
      expect(await link(expiresAt)).to.equal(url.href);
      expect(new URL(await link(Date.now() + 30 * 86_400_000)).searchParams.get("X-Amz-Expires")).to.equal("604800");
    });

    it("gives one that is dead at once when its time is over", async () => {
      const store = storeOf(await server.makeBucket());
      await store.put("trk_1/mix.mp3", Buffer.from("x"), 100);
      const url =
        (await store.linkTo?.("trk_1/mix.mp3", { expiresAt: Date.now() - 3_700_000, contentType: "audio/mpeg" })) ?? "";
      expect(new URL(url).searchParams.get("X-Amz-Expires")).to.equal("1");
    });
  });

  describe("when the server refuses or is gone", () => {
    const failed = async (work: Promise<unknown>): Promise<string> => {
      const error = await errorOf(work);
      expect(error).to.be.instanceOf(ServiceUnavailableError);
      return ((error as Error).cause as Error).message;
    };

    it("names a bucket that is missing", async () => {
      const store = storeOf("missing-bucket");
      expect(await failed(store.put("trk_1/mix.mp3", Buffer.from("x"), 100))).to.equal(
        "The bucket missing-bucket cannot be used: NoSuchBucket (404).",
      );
      expect(await failed(bytesOf(store.read("trk_1/mix.mp3")))).to.include("NoSuchBucket");
      expect(await failed(store.deleteAll("trk_1"))).to.include("NoSuchBucket");
    });

    it("names a key that is wrong, and shows no secret", async () => {
      const bucket = await server.makeBucket();
      const secretAccessKey = "a-secret-that-is-wrong";
      const store = storeOf(bucket, { credentials: { accessKeyId: server.accessKeyId, secretAccessKey } });
      const error = (await errorOf(store.put("trk_1/mix.mp3", Buffer.from("x"), 100))) as Error;
      expect(await failed(store.put("trk_1/mix.mp3", Buffer.from("x"), 100))).to.include("SignatureDoesNotMatch (403)");
      for (let at: unknown = error; at instanceof Error; at = at.cause)
        expect(`${at.message}${at.stack}${JSON.stringify(at)}`).to.not.include(secretAccessKey);
      expect(await failed(store.stat("trk_1/mix.mp3"))).to.include("403");
    });

    it("works again as soon as the server does, without a new start", async () => {
      const bucket = await server.makeBucket();
      const relay = await relayTo(server);
      const store = storeOf(bucket, { url: server.urlOf(bucket, relay.address) });
      await store.put("trk_1/mix.mp3", Buffer.from("before"), 100);
      await relay.shut();
      expect(await failed(store.stat("trk_1/mix.mp3"))).to.include("ECONNREFUSED");
      expect(await failed(store.put("trk_1/mix.mp3", Buffer.from("during"), 100))).to.include("ECONNREFUSED");
      await relay.reopen();
      expect((await bytesOf(store.read("trk_1/mix.mp3"))).toString()).to.equal("before");
      await store.put("trk_1/mix.mp3", Buffer.from("after"), 100);
      expect((await bytesOf(store.read("trk_1/mix.mp3"))).toString()).to.equal("after");
      await relay.close();
    });

    it("fails a pending read without progress", async () => {
      const bucket = await server.makeBucket();
      const relay = await relayTo(server);
      const store = storeOf(bucket, { url: server.urlOf(bucket, relay.address), timeouts: { idleMs: 300 } });
      await store.put("trk_1/long.wav", Buffer.alloc(5_000_000), 5_000_000);
      const reading = store.read("trk_1/long.wav")[Symbol.asyncIterator]();
      await reading.next();
      relay.freeze();
      const rest = async (): Promise<void> => {
        while ((await reading.next()).done !== true);
      };
      expect(await failed(rest())).to.include("nothing came for 300 ms");
      await relay.close();
    });
  });

  describe("as configured", () => {
    const load = (env: Readonly<Record<string, string>>): ReturnType<typeof loadSettings> =>
      loadSettings({ env: { ...env, FERMATA_DATA_DIR: process.cwd() }, cwd: "/" });

    it("takes its key from the settings", async () => {
      const bucket = await server.makeBucket();
      const { accessKeyId, secretAccessKey } = server;
      const env = {
        FERMATA_AUDIO__URL: server.urlOf(bucket),
        FERMATA_AUDIO__ACCESS_KEY_ID: accessKeyId,
        FERMATA_AUDIO__SECRET_ACCESS_KEY: secretAccessKey,
      };
      const store = (await openAudio(load(env))) as S3AudioStore;
      const through = (await openAudio(load({ ...env, FERMATA_AUDIO__REDIRECT: "false" }))) as S3AudioStore;
      opened.push(store, through);
      await store.put("trk_1/mix.mp3", Buffer.from("x"), 100);
      expect(await through.stat("trk_1/mix.mp3")).to.include({ sizeBytes: 1 });
      expect([typeof store.linkTo, typeof through.linkTo]).to.deep.equal(["function", "undefined"]);
    });

    it("carries a whole installation: what was generated is played from the bucket, and shared from here", async () => {
      const bucket = await server.makeBucket();
      const { accessKeyId, secretAccessKey } = server;
      const test = await startTestApp({
        work: true,
        settings: { audio: { url: server.urlOf(bucket), accessKeyId, secretAccessKey } },
      });
      try {
        const { api } = await test.account();
        const { id } = dataOf<{ readonly id: string }>(await api.generate(undefined, { Prefer: "wait=20" }));
        const { tracks } = dataOf<{ readonly tracks: readonly { readonly id: TrackId; readonly play_url: string }[] }>(
          await api.get(`/api/v1/generations/${id}`),
        );
        const [track] = tracks;
        const played = await fetch(track?.play_url ?? "", { headers: { Range: "bytes=2-5" } });
        expect(played.url).to.match(new RegExp(`^${server.endpoint}/${bucket}/files/`));
        expect([played.status, Buffer.from(await played.arrayBuffer())]).to.deep.equal([
          206,
          Buffer.from(SCRIPTED_AUDIO.subarray(2, 6)),
        ]);
        const shared = await test.app.library.manage.share(track?.id as TrackId);
        const page = await fetch(`${test.app.shareUrls.urlOf(shared)}/audio`);
        expect(page.url).to.match(new RegExp(`^${test.url}/share/`));
        expect(Buffer.from(await page.arrayBuffer()).equals(SCRIPTED_AUDIO)).to.equal(true);
      } finally {
        await test.close();
      }
    });

    it("takes its key from the AWS environment where the settings have none", async () => {
      const bucket = await server.makeBucket();
      const before = { ...process.env };
      process.env["AWS_ACCESS_KEY_ID"] = server.accessKeyId;
      process.env["AWS_SECRET_ACCESS_KEY"] = server.secretAccessKey;
      try {
        const store = storeOf(bucket, { credentials: null });
        expect((await store.put("trk_1/mix.mp3", Buffer.from("x"), 100)).sizeBytes).to.equal(1);
      } finally {
        process.env = before;
      }
    });

    it("refuses one half of a key, naming both", async () => {
      const settings = load({ FERMATA_AUDIO__URL: "s3://music", FERMATA_AUDIO__ACCESS_KEY_ID: "AKIA" });
      const error = await errorOf(openAudio(settings));
      expect((error as Error).message).to.include("audio.accessKeyId and audio.secretAccessKey");
    });
  });
});

async function relayTo({ endpoint }: S3Server): Promise<Relay> {
  return openRelayTo({ host: "127.0.0.1", port: Number(new URL(endpoint).port) });
}

async function bytesOf(source: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of source) parts.push(part);
  return Buffer.concat(parts);
}

function errorOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => null,
    (error: unknown) => error,
  );
}
