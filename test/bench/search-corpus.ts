import {
  SEARCH_DUE,
  SEARCH_ITEMS,
  SEARCH_UNINDEXED,
  searchRowsOfTracks,
} from "../../adapters/storage/sql/library/search/rows.js";
import { notesOf } from "../../adapters/storage/sql/library/search/writes.js";
import {
  toAssetRows,
  toTagRows,
  TRACK_ASSETS,
  TRACK_TAGS,
  TRACKS,
} from "../../adapters/storage/sql/library/track-tables.js";
import type { AccountId } from "../../core/ids.js";
import type { Track } from "../../core/library/track.js";
import { anAsset, aTrack, NOON } from "../support/builders.js";
import { openWriter } from "./bulk-writer.js";

const BATCH = 20_000;
const WORDS = 20_000;
const ARTISTS = 2_000;
const OTHERS = 5_000;
/** The share of public tracks in percent; of the others, every thousandth is the viewer's. */
const PUBLIC = 65;

export const VIEWER = "acct_00000000000000000000000000" as AccountId;

/** The same numbers in every run, below 1. */
export function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Words of a language: few are common and most are rare (Zipf's law). */
export class Language {
  readonly words: readonly string[];

  constructor(private readonly roll: () => number) {
    const syllables = [..."bcdfghklmnprstvw"].flatMap((consonant) => [..."aeiou"].map((vowel) => consonant + vowel));
    const ends = ["", "n", "r", "s", "t", "l"];
    const words = new Set<string>();
    while (words.size < WORDS) {
      const length = 1 + Math.floor(roll() * 4);
      const body = Array.from({ length }, () => pick(roll, syllables)).join("");
      words.add(body + pick(roll, ends));
    }
    this.words = [...words];
  }

  /** Picks one with a probability of 1 / rank. */
  word(): string {
    return this.words[Math.floor(WORDS ** this.roll()) - 1] ?? "";
  }

  text(least: number, most: number): string {
    return Array.from({ length: least + Math.floor(this.roll() * (most - least + 1)) }, () => this.word()).join(" ");
  }

  /** Picks one of a few that are about equally common. */
  tag(first: number, count: number): string {
    return this.words[first + Math.floor(this.roll() * count)] ?? "";
  }
}

/** Tags are of medium frequency: words of prompts as well. */
export const MOODS = [200, 30] as const;
export const ACTIVITIES = [300, 20] as const;
const GENRES = [400, 40] as const;

export function* tracksOf(language: Language, roll: () => number, count: number): Generator<Track> {
  for (let n = 0; n < count; n++) {
    const isPublic = roll() * 100 < PUBLIC;
    const owner = roll() * 1000 < 1 ? 0 : 1 + Math.floor(roll() * OTHERS);
    yield aTrack({
      id: `trk_${String(n).padStart(26, "0")}`,
      accountId: `acct_${String(owner).padStart(26, "0")}`,
      title: language.text(1, 4),
      artistLabel: `${language.tag(1_000, ARTISTS)} ${language.tag(3_000, ARTISTS)}`,
      prompt: language.text(6, 14),
      visibility: isPublic ? "public" : "private",
      tags: {
        mood: [language.tag(...MOODS), language.tag(...MOODS)],
        activity: roll() < 0.5 ? [language.tag(...ACTIVITIES)] : [],
        genre: [language.tag(...GENRES)],
        other: [],
      },
      assets: [anAsset()],
      createdAt: NOON + n * 1_000,
    });
  }
}

/** Writes tracks as the store does, but directly. */
export async function fillLibrary(url: string, tracks: Iterable<Track>): Promise<void> {
  const { write, close } = await openWriter(url);
  let batch: Track[] = [];
  const flush = async (): Promise<void> => {
    const items = searchRowsOfTracks(batch);
    await write(TRACKS, batch.map(TRACKS.toRow));
    await write(TRACK_TAGS, batch.flatMap(toTagRows));
    await write(TRACK_ASSETS, batch.flatMap(toAssetRows));
    await write(SEARCH_ITEMS, items);
    await write(SEARCH_UNINDEXED, items);
    await write(SEARCH_DUE, notesOf(items));
    batch = [];
  };
  for (const track of tracks) {
    batch.push(track);
    if (batch.length === BATCH) await flush();
  }
  await flush();
  await close();
}

/** Picks one with equal probability. */
export function pick<T>(roll: () => number, values: readonly T[]): T {
  return values[Math.floor(roll() * values.length)] as T;
}
