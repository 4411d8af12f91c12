import { expect } from "chai";
import { KnexLibraryStore } from "../../../adapters/storage/sql/library/library-store.js";
import type { Track } from "../../../core/library/track.js";
import { endingInZero } from "../../contract/library-store/search-corpus.js";
import { anId, aTrack, NOON } from "../../support/builders.js";
import { WorkerHarness } from "./worker-harness.js";

const SEGMENT = 5;

describe("Maintenance of the library", () => {
  let harness: WorkerHarness;
  beforeEach(async () => {
    harness = await WorkerHarness.open();
  });
  afterEach(() => harness.close());

  const openLibrary = (): KnexLibraryStore =>
    new KnexLibraryStore(harness.storage.database, { segment: SEGMENT, stride: 50, fewTracks: 10, playlists: 10 });
  const unindexed = (): Promise<unknown[]> => harness.storage.database.read("fermata_search_loose").select("shelf");

  it("indexes new items in batches while searches find all of them", async () => {
    const { storage, accountId } = harness;
    const library = openLibrary();
    // By their end, some of these report that there are new items.
    const ids = Array.from({ length: 203 }, (_, index): Track["id"] => `trk_${String(index).padStart(26, "0")}`);
    const tracks = ids.map((id, index) => aTrack({ id, accountId, title: "Slow rain", createdAt: NOON + index }));
    await storage.inTransaction((tx) => library.insertTracks(tx, tracks));
    const newest = [...ids].reverse();
    const expectAllFound = async (): Promise<void> => {
      const found = await library.searchTracks({
        viewer: accountId,
        words: ["ra", "slow"],
        mood: null,
        activity: null,
        limit: 300,
      });
      expect(found.items.map(({ id }) => id)).to.deep.equal(newest);
    };

    const { maintenance } = harness.prepare({ stores: { library } });
    expect(await unindexed()).to.have.length(203);
    await expectAllFound();
    await maintenance.runOnce();
    expect(await unindexed()).to.have.length(178);
    await expectAllFound();
    for (let round = 0; round < 8; round++) await maintenance.runOnce();
    expect(await unindexed()).to.have.length(3);
    expect(await storage.database.read("fermata_search_due")).to.deep.equal([]);
    await expectAllFound();
  });

  it("indexes the partition with the most new items first, however many others have a few", async () => {
    const library = openLibrary();
    const few = Array.from({ length: 300 }, () => aTrack({ id: endingInZero(anId("trk")), accountId: anId("acct") }));
    const many = Array.from({ length: 20 }, () => aTrack({ id: endingInZero(anId("trk")), visibility: "public" }));
    await harness.storage.inTransaction((tx) => library.insertTracks(tx, [...few, ...many]));
    await harness.prepare({ stores: { library } }).maintenance.runOnce();
    expect(await unindexed())
      .to.have.length(300)
      .and.not.deep.include({ partition: "public" });
  });
});
