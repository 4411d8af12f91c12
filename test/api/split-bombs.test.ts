import { expect } from "chai";
import type { TrackId } from "../../core/ids.js";
import { flacBomb, opusBomb, vorbisBomb } from "../support/audio-bombs.js";
import { aChord, mp3File } from "../support/audio-files.js";
import { importTrack } from "../support/library-import.js";
import { startTestApp, type TestAccount, type TestApp } from "../support/test-app.js";

/** The memory that this process may grow by for a file of some kilobytes. */
const GROWTH_MAX_BYTES = 128 * 1024 * 1024;

/** Each decompresses to more than may be split, or to more than its process may use. */
const BOMBS: Readonly<Record<string, () => Promise<Uint8Array> | Uint8Array>> = {
  "FLAC of constant blocks (70 kB, 4 GB of samples)": () => flacBomb(2_000),
  "Ogg Opus of empty frames": () => opusBomb(12_000),
  "Ogg Opus of 255 channels": () => opusBomb(510, { channels: 255 }),
  "Ogg Vorbis of silent blocks": () => vorbisBomb(80_000),
};

describe("A split by synth of a decompression bomb", function () {
  this.timeout(240_000);
  let test: TestApp;
  let caller: TestAccount;
  before(async () => {
    test = await startTestApp({
      work: true,
      settings: { plugins: { synth: { enabled: true, threads: 1 } }, jobs: { maxAttempts: 3, backoffMs: 0 } },
    });
    caller = await test.account();
  });
  after(() => test.close());

  async function split(trackId: TrackId): Promise<{ readonly status: string; readonly charged: number }> {
    const ended = new Promise<{ readonly status: string; readonly charged: number }>((resolve) => {
      test.app.events.on("job.ended", ({ generation: { request, status, creditsCharged: charged } }) => {
        if (request.sourceTrackId === trackId) resolve({ status, charged });
      });
    });
    await test.app.splits.start({ kind: "stem_split", accountId: caller.account.id, trackId });
    return ended;
  }

  for (const [title, make] of Object.entries(BOMBS)) {
    it(`fails once, is refunded, and takes no memory of this process: ${title}`, async () => {
      const ending = title.startsWith("FLAC") ? "flac" : "ogg";
      const trackId = await importTrack(test.app, { audio: await make(), ending });
      let peak = 0;
      const before = process.memoryUsage.rss();
      const timer = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 20);
      const { status, charged } = await split(trackId);
      clearInterval(timer);
      expect([status, charged]).to.deep.equal(["failed", 0]);
      expect(peak - before).to.be.below(GROWTH_MAX_BYTES);
      const [job] = await test.app.jobs.list({ status: "failed", limit: 1 });
      expect(job?.attempt).to.equal(1);
      const next = await importTrack(test.app, { audio: await mp3File(aChord(1, () => 0.5)) });
      expect((await split(next)).status).to.equal("completed");
    });
  }
});
