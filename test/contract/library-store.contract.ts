import type { StorageUnderTest } from "../support/databases.js";
import { libraryLyrics } from "./library-store/lyrics.js";
import { libraryPlaylists } from "./library-store/playlists.js";
import { librarySearch } from "./library-store/search.js";
import { libraryTracks } from "./library-store/tracks.js";

/** Small corpora that are searched. */
const CORPORA = 30;

/** By topic; all on one database. */
export function libraryStoreContract(name: string, open: () => Promise<StorageUnderTest>): void {
  describe(`LibraryStore contract: ${name}`, () => {
    let storage: StorageUnderTest;
    before(async () => {
      storage = await open();
    });
    after(() => storage.close());

    const opened = (): StorageUnderTest => storage;
    describe("tracks", () => libraryTracks(opened));
    describe("lyrics", () => libraryLyrics(opened));
    describe("playlists", () => libraryPlaylists(opened));
    describe("search", () => librarySearch(opened, CORPORA));
  });
}
