import { checkOneOf, createTable, type Migration } from "./migration.js";

export const library: Migration = {
  name: "0005-library",
  creates: ["tracks", "track_tags", "track_assets"],
  async up(knex, columns, names) {
    await createTable(knex, names.of("tracks"), (table) => {
      columns.id(table, "id").notNullable().primary();
      columns.id(table, "account_id");
      columns.id(table, "job_id");
      columns.integer(table, "position").notNullable();
      columns.text(table, "title").notNullable();
      columns.text(table, "artist_label").notNullable();
      table.double("bpm");
      columns.text(table, "prompt");
      columns.id(table, "visibility", 20).notNullable();
      columns.integer(table, "created_at").notNullable();
      // Also what makes a second settlement of one job impossible.
      columns.indexWhereSet(knex, table, ["job_id", "position"], "job_id", {
        name: names.of("tracks_job_position"),
        unique: true,
      });
      checkOneOf(table, names.of("tracks_visibility_known"), "visibility", ["public", "private"]);
    });
    await createTable(knex, names.of("track_tags"), (table) => {
      columns.id(table, "track_id").notNullable();
      columns.id(table, "category", 20).notNullable();
      columns.integer(table, "position").notNullable();
      columns.text(table, "tag").notNullable();
      table.primary(["track_id", "category", "position"]);
      checkOneOf(table, names.of("track_tags_category_known"), "category", ["mood", "activity", "genre", "other"]);
    });
    await createTable(knex, names.of("track_assets"), (table) => {
      columns.id(table, "track_id").notNullable();
      columns.integer(table, "position").notNullable();
      columns.id(table, "role", 20).notNullable();
      columns.words(table, "label", 100).notNullable();
      columns.words(table, "audio_key", 255).notNullable();
      columns.id(table, "content_type", 100).notNullable();
      columns.integer(table, "size_bytes").notNullable();
      columns.integer(table, "duration_ms");
      table.primary(["track_id", "position"]);
    });
  },
};
