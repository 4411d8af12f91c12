import { readFile } from "node:fs/promises";
import { expect } from "chai";
import {
  AccountSuspendedError,
  InvalidRequestError,
  OperationRefusedError,
  PayloadTooLargeError,
} from "../../core/errors.js";
import type { TrackUpload } from "../../core/library/upload-track.js";
import { type ApiResponse, dataOf, errorOf, issuePaths, refusalOf } from "../support/api-client.js";
import { openMany } from "../support/attack/index.js";
import { flacBomb, opusBomb, vorbisBomb } from "../support/audio-bombs.js";
import { aChord, mp3File, vorbisFile, wavFile } from "../support/audio-files.js";
import { FORM_TYPE, formOf, type Part, sendForm, upload } from "../support/audio-form.js";
import { anId } from "../support/builders.js";
import { eventually } from "../support/process.js";
import { repositoryPath } from "../support/repository.js";
import { startTestApp, type TestAccount, type TestApp } from "../support/test-app.js";
import { alongside, leftOf } from "./storage-reader.js";

interface ShownTrack {
  readonly id: string;
  readonly title: string;
  readonly duration: number;
  readonly play_url: string;
  readonly preview_audio_url: string;
  readonly thumbnail_url: string;
  readonly share_url: null;
}

const MAX_BYTES = 1024 * 1024;
/** The memory that this process may grow by for a file of some kilobytes. */
const GROWTH_MAX_BYTES = 128 * 1024 * 1024;

/** Audio of this duration, so that the file has that size. */
const SMALL = { sampleRate: 8_000, channelCount: 1 };

const UPLOADS = { maxBytes: MAX_BYTES, maxSeconds: 30, timeoutSeconds: 20 };

/** The first part of an upload, as sent on a separate connection. */
function headOf(key: string, ...headers: readonly string[]): string {
  const common = ["Host: x", `Authorization: Bearer ${key}`, `Content-Type: ${FORM_TYPE}`];
  return ["POST /api/v1/tracks HTTP/1.1", ...common, ...headers, "", ""].join("\r\n");
}

describe("POST /api/v1/tracks", function () {
  this.timeout(60_000);
  let test: TestApp;
  let caller: TestAccount;
  before(async () => {
    test = await startTestApp({ settings: { uploads: UPLOADS } });
    caller = await test.account();
  });
  after(() => test.close());

  const sound = (): Uint8Array => wavFile(aChord(2, (second) => (second < 1 ? 0.1 : 0.8), SMALL));
  const audio = (content: Uint8Array | string = sound()): Part => ({ name: "audio", filename: "hum.wav", content });
  const send = (...parts: readonly Part[]): Promise<ApiResponse> => sendForm(caller.api, formOf(parts));

  describe("creates a track from a file", () => {
    it("that is private to the account and playable, with derived assets", async () => {
      const response = await upload(caller.api, sound(), "Hummed melody");
      expect(response.status, response.text).to.equal(201);
      const shown = dataOf<ShownTrack>(response);
      expect(shown).to.include({ title: "Hummed melody", artist_label: "Upload", bpm: null, duration: 2 });
      expect(shown.share_url).to.equal(null);
      const played = await fetch(shown.play_url);
      expect(played.headers.get("content-type")).to.equal("audio/wav");
      expect(Buffer.from(await played.arrayBuffer()).equals(sound())).to.equal(true);
      expect((await fetch(shown.preview_audio_url)).headers.get("content-type")).to.equal("audio/mpeg");
      expect((await fetch(shown.thumbnail_url)).headers.get("content-type")).to.equal("image/png");

      const path = `/api/v1/tracks/${shown.id}`;
      expect(Object.keys(dataOf(await caller.api.get(path)))).to.deep.equal(Object.keys(shown));
      const found = dataOf<{ readonly tracks: readonly { readonly id: string }[] }>(
        await caller.api.get("/api/v1/library/search?q=hummed"),
      );
      expect(found.tracks.map(({ id }) => id)).to.deep.equal([shown.id]);
      const { api: otherAccount } = await test.account();
      expect(refusalOf(await otherAccount.get(path))).to.equal("404 track_not_found");
      const [track] = (await alongside(test, ({ library }) => library.findTracks([shown.id as never]))).values();
      expect(new Set(track?.waveform).size).to.be.above(1);
    });

    it("typed by its bytes, not by its name, with a given title or none", async () => {
      const types: (readonly [Uint8Array, string])[] = [
        [await mp3File(aChord(1, () => 0.5)), "audio/mpeg"],
        [await vorbisFile(aChord(1, () => 0.5)), "audio/ogg"],
      ];
      for (const [bytes, type] of types) {
        const shown = dataOf<ShownTrack>(await upload(caller.api, bytes));
        expect(shown).to.include({ title: "Untitled" });
        expect((await fetch(shown.play_url)).headers.get("content-type")).to.equal(type);
      }
      const titleFirst = await send({ name: "title", content: "Böse  \u202eTitel" }, audio());
      expect(dataOf<ShownTrack>(titleFirst).title).to.equal("Böse  Titel");
    });

    it("whose parts arrive in chunks, without Content-Length", async () => {
      const [connection] = await openMany(test.url, 1, { reads: true });
      connection?.send(headOf(caller.key, "Transfer-Encoding: chunked", "Connection: close"));
      const body = formOf([audio(), { name: "title", content: "In chunks" }]);
      for (let start = 0; start < body.length; start += 1_000) {
        const chunk = body.subarray(start, start + 1_000);
        connection?.send(Buffer.concat([Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from("\r\n")]));
      }
      connection?.send("0\r\n\r\n");
      await connection?.closed;
      expect(connection?.text).to.include("HTTP/1.1 201 ").and.include('"In chunks"');
    });
  });

  describe("refuses, and leaves nothing behind", () => {
    /** A refusal that changes nothing in the storage. */
    async function refused(ask: () => Promise<ApiResponse>): Promise<ApiResponse> {
      const before = await leftOf(test);
      const response = await ask();
      await eventually("the upload to be undone", async () => {
        const { files, uploads } = await leftOf(test);
        return files === before.files && uploads === before.uploads;
      });
      return response;
    }

    const FORMS: Readonly<Record<string, readonly [paths: readonly string[], form: () => readonly Part[]]>> = {
      "a form without a file": [["body.audio"], () => [{ name: "title", content: "Rain" }]],
      "a file that is text": [["body.audio"], () => [audio("this is no audio, although it is called so".repeat(100))]],
      "an empty file": [["body.audio"], () => [audio("")]],
      "a file with the first bytes of audio": [["body.audio"], () => [audio(`fLaC${"x".repeat(5_000)}`)]],
      "a file that is a field": [["body.audio"], () => [{ name: "audio", content: "RIFF" }]],
      "two files": [["body.audio"], () => [audio(), audio()]],
      "two titles": [["body.title"], () => [{ name: "title", content: "a" }, { name: "title", content: "b" }, audio()]],
      "a title that is a file": [["body.title"], () => [{ name: "title", filename: "x", content: "x" }, audio()]],
      "a title that is too long": [["body.title"], () => [audio(), { name: "title", content: "x".repeat(201) }]],
      "a title of many kilobytes": [["body.title"], () => [audio(), { name: "title", content: "x".repeat(100_000) }]],
      "a title in two lines": [["body.title"], () => [audio(), { name: "title", content: "a\nb" }]],
      "a blank title": [["body.title"], () => [{ name: "title", content: " " }, audio()]],
      "a field that is not known": [["body.artist"], () => [audio(), { name: "artist", content: "me" }]],
      "audio that is too long": [["body.audio"], () => [audio(wavFile(aChord(31, () => 0.5, SMALL)))]],
    };
    for (const [title, [paths, form]] of Object.entries(FORMS)) {
      it(`${title}: 400`, async () => {
        const response = await refused(() => send(...form()));
        expect(refusalOf(response), response.text).to.equal("400 invalid_request");
        expect(issuePaths(response)).to.deep.equal(paths);
      });
    }

    it("a format that is not decoded, by its name: 400", async () => {
      const m4a = await readFile(repositoryPath("test/fixtures/aac.m4a"));
      expect((await refused(() => send(audio(m4a)))).text).to.include("; it is M4A/MP4");
      expect((await refused(() => send(audio("\x00\x00\x00\x14ftypqt  ")))).text).to.include("; it is M4A/MP4");
      expect((await refused(() => send(audio("FORM\x00\x00\x00\x14AIFF")))).text).to.include("; it is AIFF");
    });

    it("incomplete forms: 400", async () => {
      const broken: readonly Uint8Array[] = [
        Buffer.from("no form at all"),
        formOf([audio()], { isWhole: false }),
        formOf([audio()]).subarray(0, 5_000),
        Buffer.from(formOf([audio()]).toString("latin1").replace("data; name", "data; nam"), "latin1"),
        Buffer.from(`--x\r\n${"A: b\r\n".repeat(20_000)}`),
      ];
      for (const body of broken) {
        const response = await refused(() => sendForm(caller.api, body));
        expect(refusalOf(response), body.subarray(0, 40).toString()).to.equal("400 invalid_request");
      }
      const headers = { "Content-Type": "multipart/form-data" };
      const unnamed = await refused(() => sendForm(caller.api, formOf([audio()]), headers));
      expect(issuePaths(unnamed)).to.deep.equal(["header.Content-Type"]);
    });

    it("files over the size limit, with or without Content-Length: 413", async () => {
      const large = wavFile(aChord(30, () => 0.5, { sampleRate: 44_100, channelCount: 1 }));
      const announced = await refused(() => send(audio(large)));
      expect(refusalOf(announced)).to.equal("413 payload_too_large");
      // Within the size allowance for the rest of a form.
      const hidden = await refused(() => send(audio(large.subarray(0, MAX_BYTES + 1))));
      expect([refusalOf(hidden), errorOf(hidden).message]).to.deep.equal([
        "413 payload_too_large",
        `The body is larger than ${MAX_BYTES} bytes.`,
      ]);
    });

    it("files whose size is announced as over the limit, before a byte of them arrives: 413", async () => {
      const [connection] = await openMany(test.url, 1, { reads: true });
      connection?.send(headOf(caller.key, `Content-Length: ${2 * MAX_BYTES}`));
      await eventually("a response", () => (connection?.statuses.length ?? 0) > 0);
      connection?.destroy();
      expect(connection?.text).to.include("HTTP/1.1 413 ").and.include('"payload_too_large"');
    });

    it("other media types, and encoded bodies: 415", async () => {
      const others: readonly Readonly<Record<string, string>>[] = [
        { "Content-Type": "audio/wav" },
        { "Content-Type": "application/json" },
        { "Content-Encoding": "gzip" },
      ];
      for (const headers of others) {
        const response = await refused(() => sendForm(caller.api, formOf([audio()]), headers));
        expect(refusalOf(response)).to.equal("415 unsupported_media_type");
      }
    });

    const BOMBS: Readonly<Record<string, () => Promise<Uint8Array> | Uint8Array>> = {
      "FLAC of constant blocks": () => flacBomb(2_000),
      "Ogg Opus of empty frames": () => opusBomb(12_000),
      "Ogg Vorbis of silent blocks": () => vorbisBomb(80_000),
    };
    for (const [title, make] of Object.entries(BOMBS)) {
      it(`a decompression bomb: ${title}`, async () => {
        const bytes = await make();
        const before = process.memoryUsage.rss();
        const response = await refused(() => upload(caller.api, bytes));
        expect([refusalOf(response), issuePaths(response)]).to.deep.equal(["400 invalid_request", ["body.audio"]]);
        expect(process.memoryUsage.rss() - before).to.be.below(GROWTH_MAX_BYTES);
        expect((await upload(caller.api, sound())).status).to.equal(201);
      });
    }

    it("an upload whose client disconnects in the middle of the file", async () => {
      await refused(async () => {
        const [connection] = await openMany(test.url, 1, { reads: true });
        connection?.send(headOf(caller.key, "Content-Length: 900000"));
        connection?.send(formOf([audio()], { isWhole: false }));
        await eventually("the upload to begin", async () => (await leftOf(test)).uploads > 0);
        connection?.destroy();
        return {} as ApiResponse;
      });
    });
  });

  it("refuses unauthorized callers before it reads the body", async () => {
    const unread = async (...headers: readonly string[]): Promise<string> => {
      const [connection] = await openMany(test.url, 1, { reads: true });
      const head = ["POST /api/v1/tracks HTTP/1.1", "Host: x", `Content-Type: ${FORM_TYPE}`, "Content-Length: 900000"];
      connection?.send([...head, ...headers, "", ""].join("\r\n"));
      await eventually("a response", () => (connection?.statuses.length ?? 0) > 0);
      connection?.destroy();
      return connection?.text ?? "";
    };
    const { key } = await test.account({ scopes: ["library:read", "generations:read"] });
    expect(await unread())
      .to.include("HTTP/1.1 401 ")
      .and.include('"authentication_required"');
    expect(await unread("Authorization: Bearer nothing")).to.include('"invalid_api_key"');
    const unscoped = await unread(`Authorization: Bearer ${key}`);
    expect(unscoped).to.include("HTTP/1.1 403 ").and.include('"generations:create"');
  });

  it("counts as a write, and is in the request log with the received bytes", async () => {
    const { api } = await test.account();
    const body = formOf([audio()]);
    const response = await sendForm(api, body);
    expect(response.headers.get("ratelimit")).to.include('"write-minute"');
    await eventually("the request to be logged", async () => {
      const { logs } = dataOf<{ readonly logs: readonly { readonly request_bytes: number | null }[] }>(
        await api.get("/api/v1/logs"),
      );
      return logs.some(({ request_bytes: bytes }) => bytes === body.length);
    });
  });
});

describe("An upload that exceeds its time limit", () => {
  it("gets 408, even when other requests have a shorter limit, and leaves nothing behind", async () => {
    const test = await startTestApp({
      settings: { uploads: { timeoutSeconds: 1 }, http: { port: 0, requestTimeoutSeconds: 0.5 } },
    });
    const { key } = await test.account();
    const [slow, other] = await openMany(test.url, 2, { reads: true });
    const order: string[] = [];
    slow?.send(headOf(key, "Content-Length: 90000"));
    const begun = wavFile(aChord(1, () => 0.5, SMALL));
    slow?.send(formOf([{ name: "audio", filename: "x", content: begun }], { isWhole: false }));
    const generation = headOf(key, "Content-Length: 90000").replace("/tracks ", "/generations ");
    other?.send(generation.replace(FORM_TYPE, "application/json"));
    await Promise.all([slow?.closed.then(() => order.push("upload")), other?.closed.then(() => order.push("other"))]);
    expect(order).to.deep.equal(["other", "upload"]);
    expect([slow?.statuses, other?.statuses]).to.deep.equal([[408], [408]]);
    await eventually("the upload to be undone", async () => (await leftOf(test)).uploads === 0);
    await test.close();
  });
});

describe("An upload by an embedding app", () => {
  let test: TestApp;
  before(async () => {
    const settings = { uploads: UPLOADS, tiers: { plus: { uploads: { maxTracks: 1 } } } };
    test = await startTestApp({ settings, listen: false });
  });
  after(() => test.close());

  const failure = (call: Promise<unknown>): Promise<unknown> =>
    call.then(
      () => null,
      (error: unknown) => error,
    );

  it("creates the same track as one over HTTP, from bytes or a stream", async () => {
    const { account } = await test.account();
    const sound = wavFile(aChord(1, () => 0.5, SMALL));
    const track = await test.app.library.upload({ accountId: account.id, audio: sound, title: "Whole" });
    expect(track).to.include({ accountId: account.id, visibility: "private", title: "Whole", jobId: null });
    expect(track.assets.map(({ role }) => role)).to.deep.equal(["mix", "preview", "cover"]);
    expect(await test.app.library.read.track(account.id, track.id)).to.deep.equal(track);
    async function* bytewise(): AsyncGenerator<Uint8Array> {
      for (let start = 0; start < sound.length; start += 7) yield sound.subarray(start, start + 7);
    }
    const streamed = await test.app.library.upload({ accountId: account.id, audio: bytewise() });
    expect([streamed.title, streamed.assets[0]?.sizeBytes]).to.deep.equal(["Untitled", sound.length]);
  });

  it("is refused like one over HTTP, respects the tier's quota, and rethrows an error of its source", async () => {
    const { account } = await test.account({ tier: "plus" });
    const audio = wavFile(aChord(1, () => 0.5, SMALL));
    const upload = (given: Partial<TrackUpload>): Promise<unknown> =>
      failure(test.app.library.upload({ accountId: account.id, audio, ...given }));
    expect(await upload({ accountId: anId("acct") })).to.be.instanceOf(OperationRefusedError);
    expect(await upload({ audio: Buffer.from("text") })).to.be.instanceOf(InvalidRequestError);
    expect(await upload({ title: "" })).to.be.instanceOf(InvalidRequestError);
    expect(await upload({ audio: Buffer.alloc(MAX_BYTES + 1, audio) })).to.be.instanceOf(PayloadTooLargeError);
    const broken = new Error("the disk is gone");
    async function* breaking(): AsyncGenerator<Uint8Array> {
      yield audio.subarray(0, 1_000);
      await Promise.reject(broken);
    }
    expect(await upload({ audio: breaking() })).to.equal(broken);
    expect(await leftOf(test).then(({ uploads }) => uploads)).to.equal(2);
    expect(await upload({})).to.equal(null);
    expect(await upload({})).to.be.instanceOf(InvalidRequestError);
    await test.app.accounts.suspend(account.id);
    expect(await upload({})).to.be.instanceOf(AccountSuspendedError);
  });
});

describe("Uploads while audio analysis is switched off", () => {
  it("are typed by their first bytes, without duration and preview", async () => {
    const test = await startTestApp({ settings: { audio: { analyser: "none" } } });
    const { api } = await test.account();
    const shown = dataOf<ShownTrack>(await upload(api, Buffer.from(`\0\0\0\x20ftypM4A ${"x".repeat(100)}`, "latin1")));
    expect([shown.duration, shown.preview_audio_url]).to.deep.equal([null, null]);
    expect((await fetch(shown.play_url)).headers.get("content-type")).to.equal("audio/mp4");
    expect(refusalOf(await upload(api, Buffer.from("text")))).to.equal("400 invalid_request");
    await test.close();
  });
});
