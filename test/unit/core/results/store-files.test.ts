import { expect } from "chai";
import { type Delivery, StoreFiles } from "../../../../core/results/store-files.js";
import type { StoredTracks } from "../../../../core/results/store-tracks.js";
import type { JobId } from "../../../../core/ids.js";
import { ProviderFailure } from "../../../../core/ports/music-provider.js";
import { aJob, anId, aTrack } from "../../../support/builders.js";
import { ManualClock } from "../../../support/doubles/manual-clock.js";
import { ManualRandom } from "../../../support/doubles/manual-random.js";
import { RecordingLogger } from "../../../support/doubles/recording-logger.js";

const STORED: StoredTracks = { tracks: [aTrack()], missing: [] };
const DELIVERY: Delivery = {
  fence: 7,
  artistLabel: "Nightingale",
  created: { state: "completed", tracks: [] },
  isOnlyCopy: false,
  isPlain: false,
};

/** Fails as often as a test says, and keeps a note of what is stored and deleted. */
class FailingTracks {
  failures: Error[] = [];
  readonly fences: number[] = [];
  readonly discarded: (number | undefined)[] = [];
  isBroken = false;

  store({ fence }: { readonly fence: number }): Promise<StoredTracks> {
    this.fences.push(fence);
    const failure = this.failures.shift();
    return failure === undefined ? Promise.resolve(STORED) : Promise.reject(failure);
  }

  storeStems(): Promise<[]> {
    return Promise.resolve([]);
  }

  discard(_jobId: JobId, fence?: number): Promise<void> {
    if (this.isBroken) return Promise.reject(new Error("the disk is gone"));
    this.discarded.push(fence);
    return Promise.resolve();
  }
}

describe("StoreFiles", () => {
  let clock: ManualClock;
  let tracks: FailingTracks;
  let logger: RecordingLogger;
  let files: StoreFiles;
  let stop: AbortController;
  beforeEach(() => {
    clock = new ManualClock();
    tracks = new FailingTracks();
    logger = new RecordingLogger();
    stop = new AbortController();
    files = new StoreFiles({ storeTracks: tracks, clock, random: new ManualRandom(), logger, tracer: null });
  });

  function failTimes(count: number, error = new Error("the disk is full")): void {
    tracks.failures = Array<Error>(count).fill(error);
  }

  /** What storing comes to once an hour has passed. */
  async function stored(delivery: Partial<Delivery> = {}): Promise<unknown> {
    const storing = files.store(aJob({ fence: 9 }), { ...DELIVERY, ...delivery }, stop.signal);
    const outcome = storing.catch((error: unknown) => error);
    await clock.advance(3_600_000);
    return outcome;
  }

  it("stores under the fence of the delivery, also where the job has another fence by now", async () => {
    expect(await stored()).to.deep.equal({ ...STORED, outputs: [] });
    expect(tracks.fences).to.deep.equal([7]);
  });

  it("tries three times what can be had later, too", async () => {
    failTimes(2);
    expect(await stored()).to.deep.equal({ ...STORED, outputs: [] });
    failTimes(3);
    expect(await stored()).to.have.property("message", "the disk is full");
    expect(tracks.fences).to.have.length(6);
  });

  it("tries for about ten minutes what is nowhere but in this process", async () => {
    failTimes(16);
    const startedAt = clock.now();
    const storing = files.store(aJob(), { ...DELIVERY, isOnlyCopy: true }, stop.signal);
    const gaveUpAfterMs = storing.catch(() => clock.now() - startedAt);
    await clock.advance(3_600_000);
    expect(tracks.fences).to.have.length(16);
    expect(await gaveUpAfterMs).to.be.within(6 * 60_000, 12 * 60_000);
  });

  it("tries once what will be no better next time", async () => {
    failTimes(1, new ProviderFailure("gone", "404"));
    expect(await stored()).to.have.property("kind", "gone");
    expect(tracks.fences).to.have.length(1);
  });

  it("tries at most once more when it is aborted in a pause", async () => {
    failTimes(3);
    const outcome = files.store(aJob(), DELIVERY, stop.signal).catch((error: unknown) => error);
    await clock.advance(0);
    stop.abort("lease_lost");
    expect(await outcome).to.have.property("message", "the disk is full");
    expect(tracks.fences).to.have.length(2);
  });

  it("deletes what the last five workers stored, and not what this one stored", async () => {
    await files.discardBefore(anId("job"), 7);
    await files.discardBefore(anId("job"), 2);
    expect(tracks.discarded).to.deep.equal([6, 5, 4, 3, 2, 1]);
  });

  it("logs what cannot be deleted, and goes on", async () => {
    tracks.isBroken = true;
    await files.discard(anId("job"), 1);
    await files.discardAll(anId("job"));
    expect(logger.lines.map(({ level, message }) => `${level}: ${message}`)).to.deep.equal([
      "warn: Files of a job could not be deleted",
      "warn: Files of a job could not be deleted",
    ]);
  });
});
