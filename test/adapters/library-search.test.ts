import { KnexLibraryStore } from "../../adapters/storage/knex/library-store.js";
import type { SearchLimits } from "../../adapters/storage/knex/search-queries.js";
import { librarySearch } from "../contract/library-store/search.js";
import { sqliteStorage, type SqliteUnderTest } from "../support/databases.js";
import { mysqlStorage, type MysqlUnderTest } from "../support/mysql.js";

/** So low that a few tracks are as many as millions: each way to an answer is gone, and each is given up. */
const LOW_LIMITS: SearchLimits = {
  levels: [
    { entries: 2, items: 2 },
    { entries: 4, items: 3 },
  ],
  candidates: 1,
  fewTracks: 2,
  playlists: 1,
};
const CORPORA = 100;

for (const { name, open } of [sqliteStorage, mysqlStorage]) {
  describe(`Searches where everything is common: ${name}`, function () {
    this.timeout(60_000);

    let storage: SqliteUnderTest | MysqlUnderTest;
    before(async () => {
      storage = await open();
    });
    after(() => storage.close());

    const opened = (): SqliteUnderTest | MysqlUnderTest => ({ ...storage, library: new KnexLibraryStore(storage.database, LOW_LIMITS) });
    librarySearch(opened, CORPORA);
  });
}
