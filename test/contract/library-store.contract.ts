import { expect } from "chai";
import { anAsset, anId, aTrack } from "../support/builders.js";
import type { StorageUnderTest } from "../support/databases.js";

export function libraryStoreContract(name: string, open: () => Promise<StorageUnderTest>): void {
  describe(`LibraryStore contract: ${name}`, () => {
    let storage: StorageUnderTest;
    before(async () => {
      storage = await open();
    });
    after(() => storage.close());

    it("keeps every member, tags and assets in their order", async () => {
      const jobId = anId("job");
      const track = aTrack({
        jobId,
        title: "Ä 🎼 “Regen”",
        bpm: 92.5,
        prompt: "line\nbreak",
        visibility: "public",
        tags: { mood: ["warm", "calm"], activity: [], genre: ["lo-fi", "ambient", "lo-fi"], other: ["no vocals"] },
        assets: [
          anAsset({ durationSeconds: 29.987 }),
          anAsset({ role: "stem", label: "vocals", contentType: "audio/wav", sizeBytes: 0, durationSeconds: null }),
          anAsset({ role: "cover", contentType: "image/png", durationSeconds: null }),
        ],
      });
      await storage.inTransaction((tx) => storage.library.insertTracks(tx, [track]));
      expect((await storage.library.tracksOfJobs([jobId])).get(jobId)).to.deep.equal([track]);
    });

    it("keeps a track without anything that may be missing", async () => {
      const jobId = anId("job");
      const track = aTrack({ jobId, accountId: null, bpm: null, prompt: null, assets: [] });
      await storage.inTransaction((tx) => storage.library.insertTracks(tx, [track]));
      expect((await storage.library.tracksOfJobs([jobId])).get(jobId)).to.deep.equal([track]);
    });

    it("answers the tracks of several jobs, each in the order of its positions", async () => {
      const [one, two, none] = [anId("job"), anId("job"), anId("job")];
      const tracks = [2, 0, 1].map((position) => aTrack({ jobId: one, position, tags: { mood: [`m${position}`], activity: [], genre: [], other: [] } }));
      const other = aTrack({ jobId: two });
      await storage.inTransaction((tx) => storage.library.insertTracks(tx, [...tracks, other, aTrack()]));
      const found = await storage.library.tracksOfJobs([two, none, one]);
      expect([...found.keys()]).to.have.members([one, two]);
      expect(found.get(one)).to.deep.equal([tracks[1], tracks[2], tracks[0]]);
      expect(found.get(two)).to.deep.equal([other]);
    });

    it("takes imported tracks, which no job made, any number of them", async () => {
      await storage.inTransaction((tx) => storage.library.insertTracks(tx, [aTrack({ jobId: null }), aTrack({ jobId: null })]));
    });

    it("refuses a second track in the same place of a job, and keeps none of its group", async () => {
      const [jobId, otherJobId] = [anId("job"), anId("job")];
      const first = aTrack({ jobId });
      await storage.inTransaction((tx) => storage.library.insertTracks(tx, [first]));
      const again = [aTrack({ jobId: otherJobId }), aTrack({ jobId })];
      const outcome = storage.inTransaction((tx) => storage.library.insertTracks(tx, again));
      expect(await outcome.catch((error: unknown) => error)).to.be.instanceOf(Error);
      expect([...(await storage.library.tracksOfJobs([jobId, otherJobId]))]).to.deep.equal([[jobId, [first]]]);
    });

    it("takes empty lists", async () => {
      await storage.inTransaction((tx) => storage.library.insertTracks(tx, []));
      expect((await storage.library.tracksOfJobs([])).size).to.equal(0);
    });
  });
}
