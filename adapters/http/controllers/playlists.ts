import { Get, Middlewares, Path, Request, Route, Security, Tags } from "@tsoa/runtime";
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
   * The account's own playlists and public ones, the newest first: at most 200, and as many as hold 10,000 tracks
   * together.
   * @summary List playlists
   */
  @Get()
  @Security("bearer", ["library:read"])
  @Middlewares(conditional)
  async listPlaylists(@Request() request: express.Request): Promise<{ data: { playlists: Playlist[] } }> {
    const found = await this.deps.readLibrary.playlists(contextOf(request).account.id);
    return { data: { playlists: await presentPlaylists(found, this.deps) } };
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
