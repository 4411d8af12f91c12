import { expect } from "chai";
import { KnexLibraryStore } from "../../../adapters/storage/knex/library-store.js";
import type { Track } from "../../../core/library/track.js";
import { aTrack, NOON } from "../../support/builders.js";
import { Workshop } from "./workshop.js";

const SEGMENT = 5;

describe("Housekeeping of the library", () => {
  let shop: Workshop;
  beforeEach(async () => {
    shop = await Workshop.open();
  });
  afterEach(() => shop.close());

  it("files what was added, some at a time, while searches find all of it", async () => {
    const { storage, accountId } = shop;
    const library = new KnexLibraryStore(storage.database, { segment: SEGMENT, stride: 50, fewTracks: 10, playlists: 10 });
    // By their end, some of these tell that there is something new.
    const ids = Array.from({ length: 203 }, (_, index): Track["id"] => `trk_${String(index).padStart(26, "0")}`);
    const tracks = ids.map((id, index) => aTrack({ id, accountId, title: "Slow rain", createdAt: NOON + index }));
    await storage.inTransaction((tx) => library.insertTracks(tx, tracks));
    const newest = [...ids].reverse();
    const expectAllFound = async (): Promise<void> => {
      const found = await library.searchTracks({ viewer: accountId, words: ["ra", "slow"], mood: null, activity: null, limit: 300 });
      expect(found.map(({ id }) => id)).to.deep.equal(newest);
    };
    const loose = async (): Promise<number> => (await storage.database.read("search_loose")).length;

    const { housekeeping } = shop.prepare({ stores: { library } });
    expect(await loose()).to.equal(203);
    await expectAllFound();
    await housekeeping.keepOnce();
    expect(await loose()).to.equal(178);
    await expectAllFound();
    for (let round = 0; round < 8; round++) await housekeeping.keepOnce();
    expect(await loose()).to.equal(3);
    expect(await storage.database.read("search_due")).to.deep.equal([]);
    await expectAllFound();
  });
});
