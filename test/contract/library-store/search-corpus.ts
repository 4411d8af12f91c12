import { randomBytes } from "node:crypto";
import fc from "fast-check";
import type { AccountId, PlaylistId, TrackId } from "../../../core/ids.js";
import type { Playlist } from "../../../core/library/playlist.js";
import type { LibrarySearch } from "../../../core/library/search.js";
import type { Track } from "../../../core/library/track.js";
import { anAsset, anId, aPlaylist, aTrack, NOON } from "../../support/builders.js";

/** The prefix of all words and tags. */
const MARK = "@";
/** Words that are prefixes of each other, and tags that are not. */
const WORDS = ["ra", "rain", "rainy", "ran", "tin", "tint", "roof"] as const;
const TAGS = ["calm", "calm down", "warm"] as const;

export interface Corpus {
  readonly tracks: readonly Track[];
  readonly playlists: readonly Playlist[];
  readonly searches: readonly LibrarySearch[];
  /** How many of the tracks exist when the others are added. */
  readonly first: number;
}

/**
 * A few tracks and playlists of two accounts, and searches that each contain a word or tag. {@link unique} makes them
 * unique.
 */
export function aCorpus(): fc.Arbitrary<Corpus> {
  const accounts: readonly AccountId[] = [anId("acct"), anId("acct")];
  const word = fc.constantFrom(...WORDS).map((one) => MARK + one);
  const tag = fc.constantFrom(...TAGS).map((one) => MARK + one);
  const text = fc.array(word, { maxLength: 3 }).map((words) => words.join(" "));
  const tags = fc.array(tag, { maxLength: 2 });
  const common = {
    accountId: fc.constantFrom(...accounts),
    visibility: fc.constantFrom("public" as const, "private" as const),
    title: text,
    // Few moments: many items have the same one.
    createdAt: fc.integer({ min: NOON, max: NOON + 3 }),
  };
  const track = fc
    .record({
      ...common,
      artistLabel: text,
      prompt: fc.option(text),
      tags: fc.record({ mood: tags, activity: tags, genre: tags, other: fc.constant([]) }),
      assets: fc.constantFrom([anAsset()], [anAsset()], [anAsset({ role: "stem" })]),
    })
    .map((given) => aTrack(given));
  const wanted = fc.record({
    viewer: fc.constantFrom(...accounts),
    words: fc.array(
      fc.constantFrom("", "r", "ra", "rain", "ti", "tint", "roof").map((one) => MARK + one),
      { maxLength: 3 },
    ),
    mood: fc.option(tag),
    activity: fc.option(tag),
    limit: fc.integer({ min: 1, max: 6 }),
  });
  const search = wanted.filter(({ words, mood, activity }) => words.length > 0 || mood !== null || activity !== null);
  return fc.array(track, { maxLength: 30 }).chain((tracks) =>
    fc.record({
      tracks: fc.constant(tracks),
      playlists: fc.array(
        fc.record({ ...common, trackIds: fc.subarray(tracks.map(({ id }) => id)) }).map((given) => aPlaylist(given)),
        { maxLength: 8 },
      ),
      searches: fc.array(search, { minLength: 1, maxLength: 8 }),
      first: fc.nat(tracks.length),
    }),
  );
}

/** The same with new ids, in the same order, and with words and tags that nothing else in the storage has. */
export function unique(corpus: Corpus): Corpus {
  const mark = aMark();
  const { tracks, playlists, searches, first } = JSON.parse(JSON.stringify(corpus).replaceAll(MARK, mark)) as Corpus;
  const ids = new Map(tracks.map(({ id }) => [id, endingInZero(anId("trk"))]));
  return {
    tracks: tracks.map((track) => ({ ...track, id: ids.get(track.id) ?? track.id })),
    playlists: playlists.map((playlist) => ({
      ...playlist,
      id: endingInZero(anId("pls")),
      trackIds: playlist.trackIds.map((id) => ids.get(id) ?? id),
    })),
    searches,
    first,
  };
}

/** An adapter may depend on how ids end, which is random: here they are fixed. */
export function endingInZero<Id extends TrackId | PlaylistId>(id: Id): Id {
  return `${id.slice(0, 4)}${id.slice(5)}0` as Id;
}

/** A unique word that is a prefix of no other. */
export function aMark(): string {
  return `q${randomBytes(6).toString("hex")}`;
}

/** The expected result of a search, by a full scan. */
export function tracksFound({ tracks }: Corpus, search: LibrarySearch): Track[] {
  const ranked = tracks.flatMap((track) => {
    if (!isVisible(track, search.viewer) || !isPlayable(track) || !hasTags(track, search)) return [];
    const title = track.title.split(" ");
    const { mood, activity, genre } = track.tags;
    const label = [...title, ...[track.artistLabel, ...mood, ...activity, ...genre].join(" ").split(" ")];
    const prompt = [...label, ...(track.prompt ?? "").split(" ")];
    const rank = [title, label, prompt].findIndex((words) => hasWords(words, search));
    return rank < 0 ? [] : [{ item: track, rank }];
  });
  return best(ranked, search.limit);
}

export function playlistsFound({ tracks, playlists }: Corpus, search: LibrarySearch): Playlist[] {
  const ranked = playlists.flatMap((playlist) => {
    if (!isVisible(playlist, search.viewer) || !hasWords(playlist.title.split(" "), search)) return [];
    const held = tracks.filter(
      (track) => playlist.trackIds.includes(track.id) && isVisible(track, search.viewer) && isPlayable(track),
    );
    const needsTrack = search.mood !== null || search.activity !== null;
    return needsTrack && !held.some((track) => hasTags(track, search)) ? [] : [{ item: playlist, rank: 0 }];
  });
  return best(ranked, search.limit);
}

function isVisible({ visibility, accountId }: Pick<Track, "visibility" | "accountId">, viewer: AccountId): boolean {
  return visibility === "public" || accountId === viewer;
}

function isPlayable({ assets }: Track): boolean {
  return assets.some(({ role }) => role === "mix");
}

function hasTags({ tags }: Track, { mood, activity }: LibrarySearch): boolean {
  return (mood === null || tags.mood.includes(mood)) && (activity === null || tags.activity.includes(activity));
}

function hasWords(words: readonly string[], search: LibrarySearch): boolean {
  return search.words.every((wanted) => words.some((word) => word.startsWith(wanted)));
}

function best<Item extends { readonly id: string; readonly createdAt: number }>(
  ranked: { item: Item; rank: number }[],
  limit: number,
): Item[] {
  const sorted = ranked.sort(
    (a, b) => a.rank - b.rank || b.item.createdAt - a.item.createdAt || (a.item.id < b.item.id ? 1 : -1),
  );
  return sorted.slice(0, limit).map(({ item }) => item);
}
