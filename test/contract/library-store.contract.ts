import type { StorageWith } from "../support/storage-under-test.js";
import { libraryLyrics } from "./library-store/lyrics.js";
import { libraryPlaylists } from "./library-store/playlists.js";
import { librarySearch } from "./library-store/search.js";
import { librarySearchPages } from "./library-store/search-pages.js";
import { libraryTracks } from "./library-store/tracks.js";

type Storage = StorageWith<"library">;

/** Small corpora that are searched. */
const CORPORA = 30;

/**
 * The promises of every `LibraryStore`, by topic, all on one database.
 *
 * @param open opens a storage without rows, once for the suite; {@link storageUnderTest} creates it
 */
export function libraryStoreContract(name: string, open: () => Promise<Storage>): void {
  describe(`LibraryStore contract: ${name}`, () => {
    let storage: Storage;
    before(async () => {
      storage = await open();
    });
    after(() => storage.close());

    const opened = (): Storage => storage;
    describe("tracks", () => libraryTracks(opened));
    describe("lyrics", () => libraryLyrics(opened));
    describe("playlists", () => libraryPlaylists(opened));
    describe("search", () => librarySearch(opened, CORPORA));
    describe("pages of searches", () => librarySearchPages(opened));
  });
}
