import { Get, Middlewares, Path, Query, Request, Route, Security, Tags } from "@tsoa/runtime";
import type express from "express";
import { contextOf } from "../request-context.js";
import { conditional } from "../middleware/conditional.js";
import type { HttpDeps } from "../deps.js";
import { type Playlist, presentPlaylist, presentPlaylists } from "../presenters/playlist.js";

@Route("api/v1/playlists")
@Tags("Library")
export class PlaylistsController {
  constructor(private readonly deps: Pick<HttpDeps, "readLibrary" | "audioUrls" | "shareUrls">) {}

  /**
   * The account's own playlists and public ones, the newest first. A page ends before it holds more than 10,000 tracks
   * together; `next_cursor` is null where nothing follows.
   * @summary List playlists
   * @param limit Most playlists to return, 1 to 200; 200 by default.
   * @isInt limit must be an integer
   * @minimum limit 1 must be 1 to 200
   * @maximum limit 200 must be 1 to 200
   * @param cursor `next_cursor` of the page before.
   */
  @Get()
  @Security("bearer", ["library:read"])
  @Middlewares(conditional)
  async listPlaylists(
    @Request() request: express.Request,
    @Query() limit?: number,
    @Query() cursor?: string,
  ): Promise<{ data: { playlists: Playlist[]; next_cursor: string | null } }> {
    const page = await this.deps.readLibrary.playlistPage(contextOf(request).account.id, { limit, cursor });
    return { data: { playlists: await presentPlaylists(page.items, this.deps), next_cursor: page.next } };
  }

  /**
   * One playlist with its tracks in their order, without those that the account may not play. A track that has no audio
   * yet is among them.
   * @summary One playlist with tracks
   * @param id The playlist's id.
   */
  @Get("{id}")
  @Security("bearer", ["library:read"])
  @Middlewares(conditional)
  async getPlaylist(@Request() request: express.Request, @Path() id: string): Promise<{ data: Playlist }> {
    return {
      data: presentPlaylist(await this.deps.readLibrary.playlist(contextOf(request).account.id, id), this.deps),
    };
  }
}
