import type { LibrarySearch } from "../../core/library/search.js";
import { foldWords } from "../../core/library/words.js";
import { sqliteStorage } from "../support/databases.js";
import type { StorageUnderTest } from "../support/storage-under-test.js";
import { mysqlStorage } from "../support/mysql.js";
import { below, type Bench, type Figure, median, percentile, spread } from "./figures.js";
import { ACTIVITIES, random, fillLibrary, Language, MOODS, tracksOf, VIEWER } from "./search-corpus.js";

const TRACKS = Number(process.env["SEARCH_TRACKS"] ?? 100_000);
const SEARCHES = 100;
const P95_MAX_MS = 50;

type Open = StorageUnderTest & { readonly url: string };
type Draw = () => Partial<LibrarySearch>;

/** Searches of a library of many tracks, as users type them. */
export const search: Bench = {
  name: "search",
  compares: `searches of ${TRACKS.toLocaleString("en")} tracks with reading one track by its id`,
  async run() {
    const figures: Figure[] = [];
    for (const { name, open } of [sqliteStorage, mysqlStorage]) figures.push(...(await measure(name, await open())));
    return figures;
  },
};

/** The query: words are prefixes, of two letters and more, of words as common as they are in texts. */
function kinds(language: Language, roll: () => number): Readonly<Record<string, Draw>> {
  const start = (word: string): string => word.slice(0, 2 + Math.floor(roll() * 7));
  const words = (count: number): string[] =>
    Array.from({ length: count }, () => start(language.word())).flatMap(foldWords);
  const ofOneTrack = (count: number): string[] => {
    const [track] = tracksOf(language, roll, 1);
    const texts = foldWords([track?.title, track?.artistLabel, ...(track?.tags.mood ?? [])].join(" "));
    return texts.slice(0, count).map(start);
  };
  return {
    "no filter": () => ({}),
    "1 word": () => ({ words: words(1) }),
    "2 words": () => ({ words: words(2) }),
    "3 words": () => ({ words: words(3) }),
    "3 words of one track": () => ({ words: ofOneTrack(3) }),
    mood: () => ({ mood: language.tag(...MOODS) }),
    "mood, activity": () => ({ mood: language.tag(...MOODS), activity: language.tag(...ACTIVITIES) }),
    "mood, 1 word": () => ({ mood: language.tag(...MOODS), words: words(1) }),
  };
}

async function measure(name: string, storage: Open): Promise<Figure[]> {
  try {
    const roll = random(1);
    const language = new Language(roll);
    await fillLibrary(storage.url, tracksOf(language, roll, TRACKS));
    await file(storage);
    const byId = await timed(
      Array.from({ length: SEARCHES }, (_, index) => index),
      async () => {
        await storage.library.findTracks([`trk_${String(Math.floor(roll() * TRACKS)).padStart(26, "0")}`]);
      },
    );
    const baseline = { ms: median(byId), name: "by id" };
    const all: number[] = [];
    const figures: Figure[] = [];
    for (const [kind, draw] of Object.entries(kinds(language, roll))) {
      const any: LibrarySearch = { viewer: VIEWER, words: [], mood: null, activity: null, limit: 10 };
      const searches = Array.from({ length: SEARCHES }, (): LibrarySearch => ({ ...any, ...draw() }));
      const taken = await timed(searches, (one) => storage.library.searchTracks(one));
      all.push(...taken);
      figures.push(spread(`${name}: search, ${kind}`, taken, baseline));
    }
    const p95 = percentile(all, 0.95);
    return [
      ...figures,
      { ...spread(`${name}: search, all kinds`, all, baseline), target: below(p95, P95_MAX_MS, " ms") },
    ];
  } finally {
    await storage.close();
  }
}

/** As the maintenance does. */
async function file({ library, inTransaction }: Open): Promise<void> {
  let isMore = true;
  while (isMore) isMore = await inTransaction((tx) => library.indexPending(tx));
}

async function timed<T>(values: readonly T[], work: (value: T) => Promise<unknown>): Promise<number[]> {
  const taken: number[] = [];
  for (const value of values) {
    const at = performance.now();
    await work(value);
    taken.push(performance.now() - at);
  }
  return taken;
}
