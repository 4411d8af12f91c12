import { createTable, type Migration } from "./migration.js";

/** The lyrics that providers report, in a table of their own: lists of tracks do not read it. */
export const trackLyrics: Migration = {
  name: "0029-track-lyrics",
  async up(knex, columns) {
    await createTable(knex, "track_lyrics", (table) => {
      columns.id(table, "track_id").notNullable().primary();
      columns.text(table, "lyrics").notNullable();
      columns.json(table, "words");
    });
  },
};
