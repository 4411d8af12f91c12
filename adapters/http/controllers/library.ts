import { Get, Middlewares, Query, Request, Route, Security, Tags } from "@tsoa/runtime";
import type express from "express";
import { contextOf } from "../request-context.js";
import { conditional } from "../middleware/conditional.js";
import type { HttpDeps } from "../deps.js";
import { type Playlist, presentPlaylists } from "../presenters/playlist.js";
import { presentTrack, type Track } from "../presenters/track.js";

@Route("api/v1/library")
@Tags("Library")
export class LibraryController {
  constructor(private readonly deps: Pick<HttpDeps, "readLibrary" | "audioUrls" | "shareUrls">) {}

  /**
   * Finds playable tracks and playlists among the public ones and the account's own. Filters combine; without any,
   * everything is found.
   *
   * What has all words in its title comes first, then what has them in title, artist and tags, then the rest; the
   * newest first within each. A playlist is found by its title, and by holding one track with the mood and activity
   * asked for.
   *
   * `next_cursor` goes on in both lists, and is null where nothing follows in either.
   * @summary Search tracks and playlists
   * @param q Words, at most 16, in any case and with or without accents: each must start a word of title, artist,
   *   prompt or tags.
   * @param mood A mood that the track is tagged with.
   * @param activity An activity that the track is tagged with.
   * @param limit Most tracks, and most playlists, to return, 1 to 25; 10 by default.
   * @isInt limit must be an integer
   * @minimum limit 1 must be 1 to 25
   * @maximum limit 25 must be 1 to 25
   * @param cursor `next_cursor` of the page before; it holds for the same filters alone.
   */
  @Get("search")
  @Security("bearer", ["library:read"])
  @Middlewares(conditional)
  async searchLibrary(
    @Request() request: express.Request,
    @Query() q?: string,
    @Query() mood?: string,
    @Query() activity?: string,
    @Query() limit?: number,
    @Query() cursor?: string,
  ): Promise<{ data: { tracks: Track[]; playlists: Playlist[]; next_cursor: string | null } }> {
    const { deps } = this;
    const found = await deps.readLibrary.search(contextOf(request).account.id, { q, mood, activity, limit, cursor });
    return {
      data: {
        tracks: found.tracks.map((track) => presentTrack(track, deps)),
        playlists: await presentPlaylists(found.playlists, deps),
        next_cursor: found.next,
      },
    };
  }
}
