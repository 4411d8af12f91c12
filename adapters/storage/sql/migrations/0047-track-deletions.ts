import type { Knex } from "knex";
import { addColumn, createTable, type Migration } from "./migration.js";

/** Read at once of the jobs that are there already. */
const PAGE = 500;

/** Tracks can be deleted: the jobs that work from each are found, and its files once their rows are gone. */
export const trackDeletions: Migration = {
  name: "0047-track-deletions",
  creates: ["file_deletions", "job_sources"],
  async up(knex, columns, names) {
    await createTable(knex, names.of("file_deletions"), (table) => {
      columns.words(table, "audio_key", 255).notNullable().primary();
      columns.integer(table, "due_at").notNullable();
      table.index(["due_at"], names.of("file_deletions_due"));
    });
    await createTable(knex, names.of("job_sources"), (table) => {
      columns.id(table, "job_id").notNullable().primary();
      columns.id(table, "track_id").notNullable();
      table.index(["track_id"], names.of("job_sources_track"));
    });
    // A completed generation has a track, but for one whose tracks were all deleted.
    await addColumn(knex, names.of("jobs"), "tracks_deleted_at", (table, name) => columns.integer(table, name));
    await findSources(knex, names.of("jobs"), names.of("job_sources"));
  },
};

/** Of jobs of before; one that has its row already keeps it. */
async function findSources(knex: Knex, jobs: string, sources: string): Promise<void> {
  for (let after = ""; ;) {
    const rows = await knex(jobs)
      .where("id", ">", after)
      .where("request", "like", '%"sourceTrackId":"trk%')
      .orderBy("id")
      .limit(PAGE)
      .select<{ readonly id: string; readonly request: string }[]>("id", "request");
    const found = rows.flatMap(({ id, request }) => {
      const { sourceTrackId } = JSON.parse(request) as { readonly sourceTrackId?: string | null };
      return typeof sourceTrackId === "string" ? [{ job_id: id, track_id: sourceTrackId }] : [];
    });
    if (found.length > 0) await knex(sources).insert(found).onConflict("job_id").ignore();
    const last = rows.at(-1);
    if (rows.length < PAGE || last === undefined) return;
    after = last.id;
  }
}
