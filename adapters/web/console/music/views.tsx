import type { Views } from "../shell/section.js";
import { MusicPage } from "./music-page.js";
import { PlaylistPage } from "./playlist-page.js";
import { TrackPage } from "./track-page.js";

/** Tracks and playlists have one address, by their id. */
export const views: Views = {
  music: ([id]) =>
    id === undefined ? (
      <MusicPage />
    ) : id.startsWith("pls_") ? (
      <PlaylistPage key={id} id={id} />
    ) : (
      <TrackPage key={id} id={id} />
    ),
};
