import type { SearchLimits } from "../../adapters/storage/sql/library/search/library-search.js";
import { KnexLibraryStore } from "../../adapters/storage/sql/library/library-store.js";
import { librarySearch } from "../contract/library-store/search.js";
import { librarySearchPages } from "../contract/library-store/search-pages.js";
import { sqliteStorage, type SqliteUnderTest } from "../support/databases.js";
import { mysqlStorage, type MysqlUnderTest } from "../support/mysql.js";

/** So low that a few tracks fill many segments. */
const LOW_LIMITS: SearchLimits = { segment: 3, stride: 1, fewTracks: 2, playlists: 1 };
const CORPORA = 100;

for (const { name, open } of [sqliteStorage, mysqlStorage]) {
  describe(`Searches of many segments: ${name}`, function () {
    this.timeout(60_000);

    let storage: SqliteUnderTest | MysqlUnderTest;
    before(async () => {
      storage = await open();
    });
    after(() => storage.close());

    const opened = (): SqliteUnderTest | MysqlUnderTest => ({
      ...storage,
      library: new KnexLibraryStore(storage.database, LOW_LIMITS),
    });
    librarySearch(opened, CORPORA);
    librarySearchPages(opened);
  });
}
