import { addIndex, type Migration } from "./migration.js";

/** Whether a stored file is a track's is looked up by its key, for hundreds of files at once. */
export const assetKeys: Migration = {
  name: "0018-asset-keys",
  async up(knex, columns, names) {
    await addIndex(knex, columns, names.of("track_assets"), names.of("track_assets_audio_key"), (table) => {
      table.index(["audio_key"], names.of("track_assets_audio_key"));
    });
  },
};
