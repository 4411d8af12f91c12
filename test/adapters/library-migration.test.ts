import { expect } from "chai";
import type { Track } from "../../core/library/track.js";
import { foldWords } from "../../core/library/words.js";
import { anAsset, anId, aTrack, NOON } from "../support/builders.js";
import { sqliteStorage } from "../support/databases.js";
import { mysqlStorage } from "../support/mysql.js";
import { migrateAgain } from "../support/old-schema.js";

const NAME = "0013-library";
const LATER = "0015-search-segments";
const LATER_TABLES = [
  "fermata_search_postings",
  "fermata_search_segments",
  "fermata_search_due",
  "fermata_search_upkeep",
  "fermata_search_loose",
];
const TABLES = [...LATER_TABLES, "fermata_search_items", "fermata_playlist_tracks", "fermata_playlists"];

for (const { name, open } of [sqliteStorage, mysqlStorage]) {
  describe(`Tracks from before there was a search: ${name}`, function () {
    this.timeout(60_000);

    it("are found like tracks that were added since", async () => {
      const storage = await open();
      const { library, database } = storage;
      const viewer = anId("acct");
      // More than one batch of them.
      const tracks = Array.from({ length: 1_001 }, (_, index) =>
        aTrack({
          accountId: index % 3 === 0 ? viewer : anId("acct"),
          visibility: index % 2 === 0 ? "public" : "private",
          title: `Étude ${index}`,
          prompt: index % 5 === 0 ? null : "slow rain",
          tags: { mood: index % 7 === 0 ? ["Très calme"] : [], activity: ["focus"], genre: ["piano"], other: [] },
          assets: index % 11 === 0 ? [anAsset({ role: "stem" })] : [anAsset()],
          createdAt: NOON + (index % 100),
        }),
      );
      await storage.inTransaction((tx) => library.insertTracks(tx, tracks));
      const found = async (words: string, mood: string | null = null): Promise<readonly Track[]> =>
        (await library.searchTracks({ viewer, words: foldWords(words), mood, activity: null, limit: 2_000 })).items;
      const searches = (): Promise<(readonly Track[])[]> =>
        Promise.all([found("etude"), found("rain 77"), found("etude piano", "tres calme"), found("")]);
      const before = await searches();
      for (const tracksFound of before) expect(tracksFound).to.not.deep.equal([]);

      const isMysql = database.dialect.name === "mysql";
      for (const table of TABLES) await database.write.raw(`DROP TABLE ${table}`);
      await database.write.raw(
        isMysql ? "DROP INDEX fermata_tracks_share_token ON fermata_tracks" : "DROP INDEX fermata_tracks_share_token",
      );
      for (const column of ["waveform", "share_token"])
        await database.write.raw(`ALTER TABLE fermata_tracks DROP COLUMN ${column}`);
      await database.write("fermata_migrations").whereIn("name", [NAME, LATER]).delete();
      expect(await database.migrate()).to.deep.equal([NAME, LATER]);
      expect(await searches()).to.deep.equal(before);

      // An interrupted migration runs again.
      const last = tracks.slice(500).map(({ id }) => id);
      await database.write("fermata_search_items").whereIn("item_id", last).delete();
      await migrateAgain(database, NAME);
      expect(await searches()).to.deep.equal(before);

      // A schema whose index had a row for each word; a partition of many items is to be indexed.
      await database.write.raw(
        isMysql
          ? "DROP INDEX fermata_search_items_slot ON fermata_search_items"
          : "DROP INDEX fermata_search_items_slot",
      );
      await database.write.raw("ALTER TABLE fermata_search_items DROP COLUMN slot");
      for (const table of LATER_TABLES) await database.write.raw(`DROP TABLE ${table}`);
      await database.write.raw("CREATE TABLE fermata_search_terms (term VARCHAR(41))");
      const many = Array.from({ length: 4_096 }, (_, index) => ({
        ...{ shelf: "pls/many", created_at: index, item_id: anId("pls") },
        ...{ title: " many", label: "", prompt: "", tags: "" },
      }));
      await database.write.batchInsert("fermata_search_items", many, 100);
      await database.write("fermata_migrations").where({ name: LATER }).delete();
      expect(await database.migrate()).to.deep.equal([LATER]);
      expect(await searches()).to.deep.equal(before);
      expect(await database.write.schema.hasTable("fermata_search_terms")).to.equal(false);
      expect(await database.write("fermata_search_due").select("shelf")).to.deep.equal([{ shelf: "pls/many" }]);
      while (await storage.inTransaction((tx) => library.indexPending(tx))) continue;
      expect(await database.write("fermata_search_segments").select("shelf", "segment")).to.deep.equal([
        { shelf: "pls/many", segment: 1 },
      ]);
      expect(await searches()).to.deep.equal(before);
      await storage.close();
    });
  });
}
