import { createTable, type Migration } from "./migration.js";

/** The lyrics that providers report, in a table of their own: lists of tracks do not read it. */
export const trackLyrics: Migration = {
  name: "0029-track-lyrics",
  creates: ["track_lyrics"],
  async up(knex, columns, names) {
    await createTable(knex, names.of("track_lyrics"), (table) => {
      columns.id(table, "track_id").notNullable().primary();
      columns.text(table, "lyrics").notNullable();
      columns.json(table, "words");
    });
  },
};
