import { fillSearchIndex } from "./0013-search-index.js";
import { addColumn, addIndex, checkOneOf, createClustered, createTable, type Migration } from "./migration.js";

export const librarySearch: Migration = {
  name: "0013-library",
  creates: ["playlists", "playlist_tracks", "search_items"],
  async up(knex, columns, names) {
    await addColumn(knex, names.of("tracks"), "waveform", (table, name) => columns.text(table, name));
    await addColumn(knex, names.of("tracks"), "share_token", (table, name) => columns.id(table, name, 100));
    await addIndex(knex, columns, names.of("tracks"), names.of("tracks_share_token"), (table) =>
      columns.indexWhereSet(knex, table, ["share_token"], "share_token", {
        name: names.of("tracks_share_token"),
        unique: true,
      }),
    );
    await createTable(knex, names.of("playlists"), (table) => {
      columns.id(table, "id").notNullable().primary();
      columns.id(table, "account_id");
      columns.text(table, "title").notNullable();
      columns.id(table, "visibility", 20).notNullable();
      columns.integer(table, "created_at").notNullable();
      table.index(["account_id", "created_at", "id"], names.of("playlists_account"));
      table.index(["visibility", "created_at", "id"], names.of("playlists_visibility"));
      checkOneOf(table, names.of("playlists_visibility_known"), "visibility", ["public", "private"]);
    });
    await createTable(knex, names.of("playlist_tracks"), (table) => {
      columns.id(table, "playlist_id").notNullable();
      columns.integer(table, "position").notNullable();
      columns.id(table, "track_id").notNullable();
      table.primary(["playlist_id", "position"]);
      table.unique(["track_id", "playlist_id"], { indexName: names.of("playlist_tracks_track") });
    });
    await createClustered(knex, columns, names.of("search_items"), (table) => {
      columns.id(table, "shelf").notNullable();
      columns.integer(table, "created_at").notNullable();
      columns.id(table, "item_id").notNullable();
      for (const text of ["title", "label", "prompt", "tags"]) columns.text(table, text).notNullable();
      table.primary(["shelf", "created_at", "item_id"]);
    });
    await fillSearchIndex(knex, names);
  },
};
