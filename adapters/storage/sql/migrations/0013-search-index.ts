import type { Knex } from "knex";
import type { SearchableTrack } from "../../../../core/library/search-texts.js";
import type { Track } from "../../../../core/library/track.js";
import { groupBy } from "../lists.js";
import { searchRowsOfTracks } from "../library/search/rows.js";
import type { TableNames } from "../table-names.js";

const BACKFILL_TRACKS = 500;
const INSERT_ROWS = 100;

interface OldTrack {
  readonly id: Track["id"];
  readonly account_id: Track["accountId"];
  readonly title: string;
  readonly artist_label: string;
  readonly prompt: string | null;
  readonly visibility: Track["visibility"];
  readonly created_at: number;
}

interface OldTag {
  readonly track_id: Track["id"];
  readonly category: keyof Track["tags"];
  readonly tag: string;
}

/**
 * Tracks from before there was a search are found by it. One that is in the index stays as it is: an interrupted step
 * runs again.
 */
export async function fillSearchIndex(knex: Knex, names: TableNames): Promise<void> {
  for (let last = ""; ;) {
    const rows = await knex<OldTrack>(names.of("tracks"))
      .where("id", ">", last)
      .orderBy("id")
      .limit(BACKFILL_TRACKS)
      .select("id", "account_id", "title", "artist_label", "prompt", "visibility", "created_at");
    const next = rows.at(-1)?.id;
    if (next === undefined) return;
    await insertMissing(knex, names.of("search_items"), searchRowsOfTracks(await playable(knex, names, rows)));
    last = next;
  }
}

async function playable(knex: Knex, names: TableNames, rows: readonly OldTrack[]): Promise<SearchableTrack[]> {
  const ids = rows.map(({ id }) => id);
  const mixes = await knex<{ track_id: Track["id"]; role: string }>(names.of("track_assets"))
    .whereIn("track_id", ids)
    .andWhere("role", "mix")
    .select("track_id");
  const tags = groupBy(
    await knex<OldTag>(names.of("track_tags")).whereIn("track_id", ids).select("track_id", "category", "tag"),
    (tag) => tag.track_id,
  );
  const withMix = new Set(mixes.map((mix) => mix.track_id));
  return rows.filter(({ id }) => withMix.has(id)).map((row) => toSearchable(row, tags.get(row.id) ?? []));
}

function toSearchable(row: OldTrack, tags: readonly OldTag[]): SearchableTrack {
  const tagsOf = (category: OldTag["category"]): string[] =>
    tags.filter((tag) => tag.category === category).map((tag) => tag.tag);
  return {
    id: row.id,
    accountId: row.account_id,
    visibility: row.visibility,
    title: row.title,
    artistLabel: row.artist_label,
    prompt: row.prompt,
    tags: { mood: tagsOf("mood"), activity: tagsOf("activity"), genre: tagsOf("genre"), other: tagsOf("other") },
    assets: [{ role: "mix" }],
    createdAt: row.created_at,
  };
}

async function insertMissing(knex: Knex, table: string, rows: readonly object[]): Promise<void> {
  for (let start = 0; start < rows.length; start += INSERT_ROWS) {
    await knex(table)
      .insert(rows.slice(start, start + INSERT_ROWS))
      .onConflict()
      .ignore();
  }
}
