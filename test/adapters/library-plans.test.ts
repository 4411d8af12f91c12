import { expect } from "chai";
import sinon from "sinon";
import { KnexLibraryStore } from "../../adapters/storage/sql/library/library-store.js";
import type { KnexDatabase } from "../../adapters/storage/sql/index.js";
import type { Session, SqlValue } from "../../adapters/storage/sql/session.js";
import type { LibrarySearch } from "../../core/library/search.js";
import type { LibraryStore } from "../../core/ports/library-store.js";
import { anId, aPlaylist, aTrack, NOON } from "../support/builders.js";
import { sqliteStorage, type SqliteUnderTest } from "../support/databases.js";
import { mysqlStorage, type MysqlUnderTest } from "../support/mysql.js";

type Storage = SqliteUnderTest | MysqlUnderTest;

interface Asked {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

/** How an engine executes a statement. */
interface Plan {
  /** The index by which each table is searched, `id` for its primary key; null for a full scan. */
  readonly indexes: readonly (string | null)[];
  readonly notified: string;
}

const TRACKS = 3_000;
const VIEWER = anId("acct");
const TRACK_IDS = Array.from({ length: TRACKS }, () => anId("trk"));
const PLAYLIST_IDS = Array.from({ length: 300 }, () => anId("pls"));
const SHARED = "token-1";
/** Within a segment. */
const FOUND = { rank: 0, createdAt: NOON + 1_550, id: anId("trk") };
const BEHIND = { createdAt: NOON + 200, id: anId("pls") };

const search = (wanted: Partial<LibrarySearch>): LibrarySearch => ({
  viewer: VIEWER,
  words: [],
  mood: null,
  activity: null,
  limit: 10,
  ...wanted,
});

/** The index that each operation uses, apart from fetching the found rows by id. */
const OPERATIONS: Readonly<Record<string, (library: LibraryStore, storage: Storage) => Promise<unknown>>> = {
  findTracks: (library) => library.findTracks(TRACK_IDS.slice(0, 120)),
  findLyrics: (library) => library.findLyrics(TRACK_IDS[7] ?? anId("trk")),
  namedAudioKeys: (library) => library.namedAudioKeys(TRACK_IDS.slice(0, 120).map((id) => `${id}/mix.mp3`)),
  findSharedTrack: (library) => library.findSharedTrack(SHARED),
  linkGeneration: (library) => library.linkGeneration(`${TRACK_IDS[7] ?? ""}/mix.mp3`),
  "shareTrack and unshareTrack": (library, { inTransaction }) =>
    inTransaction(async (tx) => {
      const [id = anId("trk")] = TRACK_IDS.slice(5);
      await library.shareTrack(tx, id, "token-2");
      await library.unshareTrack(tx, id);
    }),
  lockTrack: (library, { inTransaction }) => inTransaction((tx) => library.lockTrack(tx, TRACK_IDS[7] ?? anId("trk"))),
  countPlaylists: (library, { inTransaction }) => inTransaction((tx) => library.countPlaylists(tx, VIEWER)),
  findPlaylists: (library) => library.findPlaylists(PLAYLIST_IDS.slice(0, 25)),
  lockPlaylist: (library, { inTransaction }) =>
    inTransaction((tx) => library.lockPlaylist(tx, PLAYLIST_IDS[3] ?? anId("pls"))),
  listPlaylists: (library) => library.listPlaylists(VIEWER, { playlists: 20, tracks: 10_000 }),
  "listPlaylists of everyone": (library) => library.listPlaylists(null, { playlists: 20, tracks: 10_000 }),
  "listPlaylists behind another": (library) => library.listPlaylists(VIEWER, { playlists: 20, tracks: 10_000 }, BEHIND),
  "updatePlaylist and deletePlaylist": (library, { inTransaction }) =>
    inTransaction(async (tx) => {
      const playlist = aPlaylist({ trackIds: TRACK_IDS.slice(0, 3) });
      await library.insertPlaylists(tx, [playlist]);
      await library.updatePlaylist(tx, { ...playlist, title: "Loud mornings" });
      await library.deletePlaylist(tx, playlist.id);
    }),
  "a search without anything": (library) => library.searchTracks(search({})),
  "a search of a rare word": (library) => library.searchTracks(search({ words: ["number7"] })),
  "a search of words that stand everywhere": (library) => library.searchTracks(search({ words: ["rain", "tin"] })),
  "a search of a rare word and one that stands everywhere": (library) =>
    library.searchTracks(search({ words: ["number7", "rain"] })),
  "a search of words that stand nowhere together": (library) =>
    library.searchTracks(search({ words: ["even", "odd"] })),
  "a search of a tag": (library) => library.searchTracks(search({ mood: "calm" })),
  "a search of tags and a word": (library) =>
    library.searchTracks(search({ mood: "calm", activity: "focus", words: ["ra"] })),
  "a search of a word that is longer than the index has it": (library) =>
    library.searchTracks(search({ words: ["ra".repeat(30)] })),
  "a search without anything, behind a track": (library) => library.searchTracks(search({ after: FOUND })),
  "a search of words, behind a track": (library) =>
    library.searchTracks(search({ words: ["rain", "tin"], after: FOUND })),
  "a search of words, behind a track of the last class": (library) =>
    library.searchTracks(search({ words: ["rain"], after: { ...FOUND, rank: 2 } })),
  "a search of a tag, behind a track": (library) => library.searchTracks(search({ mood: "calm", after: FOUND })),
  "a search of playlists, behind one": (library) =>
    library.searchPlaylists(search({ words: ["quiet"], after: { ...BEHIND, rank: 0 } })),
  "filing what was added": (library, { inTransaction }) => inTransaction((tx) => library.indexPending(tx)),
  "a search of playlists by title": (library) => library.searchPlaylists(search({ words: ["quiet"] })),
  "a search of playlists by a rare tag": (library) => library.searchPlaylists(search({ activity: "diving" })),
  "a search of playlists by a common tag": (library) => library.searchPlaylists(search({ mood: "calm" })),
};

for (const kind of [sqliteStorage, mysqlStorage]) {
  describe(`Plans of the library: ${kind.name}`, function () {
    this.timeout(60_000);

    let storage: Storage;
    /** A few hundred are many for a plan. */
    let library: KnexLibraryStore;
    before(async () => {
      storage = await kind.open();
      library = new KnexLibraryStore(storage.database, { segment: 100, stride: 20, fewTracks: 50, playlists: 50 });
      await fill({ ...storage, library });
    });
    after(() => storage.close());
    afterEach(() => sinon.restore());

    const plansOf = async (work: () => Promise<unknown>): Promise<Plan[]> => {
      const asked = (await askedBy(storage.database, work)).filter(({ text }) => /^(SELECT|UPDATE|DELETE)/.test(text));
      expect(asked).to.not.deep.equal([]);
      return Promise.all(asked.map((one) => explain(storage.database, one)));
    };

    for (const [operation, run] of Object.entries(OPERATIONS)) {
      it(`${operation}: every table is searched by an index`, async () => {
        for (const plan of await plansOf(() => run(library, storage))) {
          // What is pending is counted as a whole, which MySQL calls a scan of its primary key, and others a range.
          if (plan.notified.includes("FROM {search_due} WHERE shelf > ''")) continue;
          expect(plan.indexes, plan.notified).to.not.include(null);
        }
      });
    }

    for (const [operation, index] of [
      ["namedAudioKeys", "fermata_track_assets_audio_key"],
      ["findSharedTrack", "fermata_tracks_share_token"],
      ["listPlaylists", "fermata_playlists_account"],
      ["listPlaylists", "fermata_playlists_visibility"],
      ["countPlaylists", "fermata_playlists_account"],
      ["listPlaylists of everyone", "fermata_playlists_visibility"],
      ["listPlaylists behind another", "fermata_playlists_account"],
      ["listPlaylists behind another", "fermata_playlists_visibility"],
      ["a search of words, behind a track", "fermata_search_items_slot"],
      ["a search of playlists by a rare tag", "fermata_playlist_tracks_track"],
    ] as const) {
      it(`${operation} uses ${index}`, async () => {
        const plans = await plansOf(() => OPERATIONS[operation]?.(library, storage) ?? Promise.resolve());
        expect(plans.flatMap(({ indexes }) => indexes)).to.include(index);
      });
    }

    it("tracks are read without their lyrics", async () => {
      const plans = await plansOf(() => OPERATIONS["findTracks"]?.(library, storage) ?? Promise.resolve());
      for (const { notified: reported } of plans) expect(reported).to.not.include("track_lyrics");
    });

    it("tracks of 25 playlists of 500 take few queries", async () => {
      const ids = Array.from({ length: 12_500 }, () => anId("trk"));
      const asked = await askedBy(storage.database, () => library.findTracks(ids));
      expect(asked).to.have.length(25);
    });

    it("a full table scan is detected", async () => {
      const plan = await explain(storage.database, {
        text: "SELECT * FROM fermata_search_items WHERE title = ?",
        values: ["x"],
      });
      expect(plan.indexes, plan.notified).to.deep.equal([null]);
    });
  });
}

async function fill({ database, library, inTransaction }: Storage): Promise<void> {
  const tracks = TRACK_IDS.map((id, index) =>
    aTrack({
      id,
      accountId: index % 10 === 0 ? VIEWER : anId("acct"),
      visibility: index % 3 === 0 ? "private" : "public",
      title: `Rain on tin number${index} ${index % 2 === 0 ? "even" : "odd"}`,
      tags: {
        mood: [index % 4 === 0 ? "calm" : "warm"],
        activity: [index === 1 ? "diving" : "focus"],
        genre: [],
        other: [],
      },
      shareToken: index === 0 ? SHARED : null,
      createdAt: NOON + index,
    }),
  );
  const playlists = PLAYLIST_IDS.map((id, index) =>
    aPlaylist({
      id,
      accountId: index % 3 === 0 ? VIEWER : anId("acct"),
      visibility: index % 2 === 0 ? "public" : "private",
      trackIds: Array.from({ length: 20 }, (_, position) => TRACK_IDS[(index * 7 + position) % TRACKS] ?? anId("trk")),
      createdAt: NOON + index,
    }),
  );
  await inTransaction(async (tx) => {
    await library.insertTracks(
      tx,
      tracks.map((track) => ({ ...track, lyrics: { text: "Rain on tin", words: null } })),
    );
    await library.insertPlaylists(tx, playlists);
  });
  while (await inTransaction((tx) => library.indexPending(tx))) continue;
  // Some are not indexed yet.
  await inTransaction((tx) =>
    library.insertTracks(
      tx,
      tracks.slice(0, 50).map((track) => ({ ...track, id: anId("trk"), shareToken: null })),
    ),
  );
  const tables =
    "{tracks}, {track_tags}, {track_assets}, {track_lyrics}, {playlists}, {playlist_tracks}, {search_items}, " +
    "{search_loose}, {search_segments}, {search_postings}, {search_due}";
  await database.write.raw(
    database.dialect.name === "mysql" ? database.names.in(`ANALYZE TABLE ${tables}`) : "SELECT 1",
  );
}

/** The statements that single reads and transactions send. */
async function askedBy(database: KnexDatabase, work: () => Promise<unknown>): Promise<Asked[]> {
  const asked: Asked[] = [];
  const [reading, transaction] = [database.reading.bind(database), database.transaction.bind(database)];
  sinon.stub(database, "reading").callsFake((ask) => reading((session) => ask(overheard(session, asked))));
  sinon
    .stub(database, "transaction")
    .callsFake((inside) =>
      transaction((session) => inside(Object.assign(overheard(session, asked), { isOpen: true }))),
    );
  await work();
  sinon.restore();
  return asked;
}

function overheard(session: Session, asked: Asked[]): Session {
  return {
    all: (text, values = []) => (asked.push({ text, values }), session.all(text, values)),
    run: (text, values = []) => (asked.push({ text, values }), session.run(text, values)),
    allEach: (text, lists) => (asked.push({ text, values: lists[0] ?? [] }), session.allEach(text, lists)),
    runEach: (text, lists) => (asked.push({ text, values: lists[0] ?? [] }), session.runEach(text, lists)),
    writeEach: (text, lists) => (asked.push({ text, values: lists[0] ?? [] }), session.writeEach(text, lists)),
    updateRows: (table, by, updates) => session.updateRows(table, by, updates),
    insert: (table, rows) => session.insert(table, rows),
    upsert: (table, rows) => session.upsert(table, rows),
    upsertSums: (table, rows) => session.upsertSums(table, rows),
  };
}

function explain(database: KnexDatabase, asked: Asked): Promise<Plan> {
  return database.dialect.name === "mysql" ? explainMysql(database, asked) : explainSqlite(database, asked);
}

async function explainSqlite(database: KnexDatabase, { text, values }: Asked): Promise<Plan> {
  const rows = await database.reading((session) =>
    session.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${text}`, values),
  );
  const details = rows.map(({ detail }) => detail);
  // Derived tables have names of their own.
  const reads = details.filter((detail) => /^(SCAN|SEARCH) (?!\()/.test(detail));
  return {
    indexes: reads.map((detail) => {
      const index = /^SEARCH .* USING (?:COVERING )?(?:INDEX (\w+)|PRIMARY KEY)/.exec(detail);
      if (index === null) return null;
      return index[1] === undefined || index[1].startsWith("sqlite_autoindex") ? "id" : index[1];
    }),
    notified: `${text}\n${details.join("\n")}`,
  };
}

interface ExplainedTable {
  readonly table: string | null;
  readonly type: string | null;
  readonly key: string | null;
}

async function explainMysql(database: KnexDatabase, { text, values }: Asked): Promise<Plan> {
  const rows = await database.reading((session) =>
    session.all<ExplainedTable>(`EXPLAIN FORMAT=TRADITIONAL ${text}`, values),
  );
  const reads = rows.filter(({ table }) => table !== null && !table.startsWith("<"));
  return {
    // Type `index` scans a whole index, `ALL` a whole table.
    indexes: reads.map(({ type, key }) => (key === null || type === "index" ? null : key === "PRIMARY" ? "id" : key)),
    notified: `${text}\n${rows.map((row) => JSON.stringify(row)).join("\n")}`,
  };
}
