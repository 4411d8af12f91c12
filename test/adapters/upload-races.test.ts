import { expect } from "chai";
import { Tiers } from "../../core/accounts/tiers.js";
import type { Track } from "../../core/library/track.js";
import { UploadTrack } from "../../core/library/upload-track.js";
import type { AccountId } from "../../core/ids.js";
import { anId } from "../support/builders.js";
import { SILENT, sqliteStorage } from "../support/databases.js";
import { ManualClock } from "../support/doubles/manual-clock.js";
import { MemoryAudioStore } from "../support/doubles/memory-audio-store.js";
import { SILENCE_WAV } from "../support/library-fixture.js";
import { mysqlStorage } from "../support/mysql.js";
import { collide, type Step } from "../support/race-harness.js";
import { openSteppedProcess, type SteppedProcess } from "../support/stepping.js";
import type { StorageUnderTest } from "../support/storage-under-test.js";

const LIMIT = { perMinute: 1_000, perDay: 1_000 };
const QUOTAS = {
  tracks: { maxTracks: 1, maxBytes: 10 * SILENCE_WAV.length },
  bytes: { maxTracks: 10, maxBytes: SILENCE_WAV.length },
};

for (const { name, open } of [sqliteStorage, mysqlStorage])
  describe(`Uploads of one account by two processes at once: ${name}`, () => {
    let storage: StorageUnderTest & { readonly url: string };
    let processes: SteppedProcess[];
    let accountId: AccountId;
    before(async () => {
      storage = await open();
    });
    after(() => storage.close());
    beforeEach(async () => {
      processes = [await openSteppedProcess(storage.url), await openSteppedProcess(storage.url)];
      accountId = (await storage.addAccount({}, { monthly: 1 })).id;
    });
    afterEach(() => Promise.all(processes.map((process) => process.close())));

    /** @returns the id of the track, or the refusal */
    function uploading(process: SteppedProcess, quota: keyof typeof QUOTAS, audio: MemoryAudioStore): Step<string> {
      const uploads = new UploadTrack({
        ...process.stores,
        audio,
        tiers: new Tiers([
          {
            ...{ name: "pro", maxConcurrent: 1, monthlyCredits: 0, uploads: QUOTAS[quota] },
            rateLimits: { read: LIMIT, generation: LIMIT, write: LIMIT },
          },
        ]),
        derived: { deriveFor: (track) => Promise.resolve(track), deriveOfReadable: (track) => Promise.resolve(track) },
        clock: process.clockOf(new ManualClock()),
        ids: { next: anId },
        logger: SILENT,
        record: null,
        decodes: false,
        limits: { maxBytes: SILENCE_WAV.length, maxSeconds: 10 },
      });
      const begin = (): Promise<string> =>
        uploads.execute({ accountId, audio: SILENCE_WAV }).then(
          ({ id }: Track) => id,
          (error: unknown) => (error as Error).message,
        );
      return { by: { process }, begin };
    }

    for (const quota of ["tracks", "bytes"] as const)
      it(`take no more than is left of the quota in ${quota}`, async () => {
        const audio = new MemoryAudioStore();
        const [one, other] = processes as [SteppedProcess, SteppedProcess];
        const steps = [uploading(one, quota, audio), uploading(other, quota, audio)] as const;
        const [first, second] = await collide("before commit", ...steps);
        expect(second).to.include("body.audio does not fit: the account's tier allows");
        expect(audio.keys).to.deep.equal([`${first}/mix.wav`]);
        const used = await storage.inTransaction((tx) => storage.uploads.usageOf(tx, accountId, 0));
        expect(used).to.deep.equal({ tracks: 1, bytes: SILENCE_WAV.length });
      });
  });
