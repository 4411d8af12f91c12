import { expect } from "chai";
import { LocalAudioStore } from "../../adapters/audio/local/audio-store.js";
import { SystemClock } from "../../adapters/system/clock.js";
import { type ApiResponse, errorOf, refusalOf } from "../support/api-client.js";
import { aChord, wavFile } from "../support/audio-files.js";
import { upload } from "../support/audio-form.js";
import { anId } from "../support/builders.js";
import { temporaryFolder } from "../support/databases.js";
import { startTestApp, type TestAccount, type TestApp } from "../support/test-app.js";
import { FaultyPort } from "../support/doubles/faulty-port.js";
import { alongside, leftOf } from "./storage-reader.js";

const SOUND = wavFile(aChord(1, () => 0.5, { sampleRate: 8_000, channelCount: 1 }));
/** Smaller than the rest of a form. */
const LITTLE = 100;

describe("The quota of uploads", function () {
  this.timeout(60_000);
  let test: TestApp;
  before(async () => {
    test = await startTestApp({
      settings: {
        tiers: {
          free: { uploads: { maxTracks: 0 } },
          plus: { uploads: { maxTracks: 2 } },
          pro: { uploads: { maxBytes: 2 * SOUND.length + LITTLE } },
        },
      },
    });
  });
  after(() => test.close());

  const statuses = (responses: readonly ApiResponse[]): number[] => responses.map(({ status }) => status).sort();
  /** Uploads one file so many times, one after another. */
  async function inTurn({ api }: TestAccount, times: number): Promise<ApiResponse[]> {
    const responses: ApiResponse[] = [];
    while (responses.length < times) responses.push(await upload(api, SOUND));
    return responses;
  }

  it("limits the number of tracks, also to none, as the tier says", async () => {
    const [none] = await inTurn(await test.account({ tier: "free" }), 1);
    expect([none && refusalOf(none), none && errorOf(none).message]).to.deep.equal([
      "400 invalid_request",
      "The request is not valid: body.audio does not fit: the account's tier allows 0 uploaded tracks.",
    ]);
    const caller = await test.account({ tier: "plus" });
    expect(statuses(await inTurn(caller, 3))).to.deep.equal([201, 201, 400]);
    // Another account has its own quota, and a higher tier a larger one.
    expect(statuses(await inTurn(await test.account({ tier: "plus" }), 1))).to.deep.equal([201]);
    await test.app.accounts.changeTier(caller.account.id, "pro");
    expect(statuses(await inTurn(caller, 1))).to.deep.equal([400]);
  });

  it("limits the bytes of files, to the byte", async () => {
    const caller = await test.account();
    const responses = await inTurn(caller, 3);
    expect(statuses(responses)).to.deep.equal([201, 201, 400]);
    const { message } = errorOf(responses[2] as ApiResponse);
    expect(message).to.match(/body.audio does not fit: the account's tier allows \d+ bytes of uploads/);
    const where = { account_id: caller.account.id };
    const rows = await alongside(test, (_, { read }) => read("fermata_uploads").where(where).select("size_bytes"));
    expect(rows.map((row: { size_bytes: number }) => row.size_bytes)).to.deep.equal([SOUND.length, SOUND.length]);
  });

  it("holds for concurrent uploads, in tracks and in bytes", async () => {
    for (const tier of ["plus", "pro"]) {
      const caller = await test.account({ tier });
      const before = await leftOf(test);
      const responses = await Promise.all(Array.from({ length: 6 }, () => upload(caller.api, SOUND)));
      const stored = responses.filter(({ status }) => status === 201).length;
      expect(stored, tier).to.be.within(1, 2);
      expect(statuses(responses).slice(stored), tier).to.deep.equal(Array.from({ length: 6 - stored }, () => 400));
      expect((await leftOf(test)).uploads - before.uploads).to.equal(stored);
      // The quota that a refused upload reserved is free again.
      expect(statuses(await inTurn(caller, 3 - stored)).at(-1)).to.equal(400);
      expect((await leftOf(test)).uploads - before.uploads).to.equal(2);
    }
  });

  it("is not used by a refused upload", async () => {
    const caller = await test.account({ tier: "plus" });
    for (let refused = 0; refused < 3; refused++) {
      expect((await upload(caller.api, Buffer.from("text ".repeat(1_000)))).status).to.equal(400);
    }
    expect(statuses(await inTurn(caller, 2))).to.deep.equal([201, 201]);
  });
});

describe("An upload interrupted between its file and its track", () => {
  it("is found with its files, and after an hour deleted and not in the quota; other uploads stay", async () => {
    let passedMs = 0;
    let isLost = false;
    const folder = await temporaryFolder();
    const audio = await LocalAudioStore.open(folder);
    const test = await startTestApp({
      settings: { tiers: { plus: { uploads: { maxTracks: 2 } } } },
      clock: { now: () => Date.now() + passedMs, sleep: (ms, signal) => new SystemClock().sleep(ms, signal) },
      // A dead process neither creates a track from its stored file nor deletes it.
      audio: new FaultyPort(audio).failOn(
        "deleteAll",
        () => new Error("gone"),
        () => isLost,
      ),
      audioAnalyser: {
        analyse: async () => {
          if (isLost) throw new Error("gone");
          return Promise.resolve({ durationSeconds: 1, waveform: [1], preview: null });
        },
        close: () => Promise.resolve(),
      },
    });
    const { api } = await test.account({ tier: "plus" });
    await audio.put(`${anId("trk")}/mix.wav`, SOUND, SOUND.length);
    expect((await upload(api, SOUND)).status).to.equal(201);
    const kept = (await audio.list(null, 100)).length;
    isLost = true;
    expect((await upload(api, SOUND)).status).to.equal(500);
    isLost = false;
    expect((await audio.list(null, 100)).length).to.equal(kept + 1);
    expect((await upload(api, SOUND)).status, "the quota counts what may be under way").to.equal(400);

    const early = await test.app.audio.collect({ isDryRun: false });
    expect([early.deleted.files, early.orphaned.files, early.unknown.files]).to.deep.equal([0, 0, 1]);
    passedMs = 2 * 3_600_000;
    const late = await test.app.audio.collect({ isDryRun: false });
    expect([late.deleted.files, late.unknown.files]).to.deep.equal([1, 1]);
    expect((await audio.list(null, 100)).length).to.equal(kept);
    expect((await upload(api, SOUND)).status).to.equal(201);
    await test.close();
  });
});
