import { Get, Path, Request, Route, Security, Tags } from "@tsoa/runtime";
import type express from "express";
import { exchangeOf } from "../exchange.js";
import type { HttpParts } from "../parts.js";
import { type Playlist, presentPlaylist, presentPlaylists } from "../presenters/playlist.js";

@Route("api/v1/playlists")
@Tags("Library")
export class PlaylistsController {
  constructor(private readonly parts: Pick<HttpParts, "readLibrary" | "audioUrls" | "shareUrls">) {}

  /**
   * The account's own playlists and public ones, the newest first: at most 200, and as many as hold 10,000 tracks together.
   * @summary List playlists
   */
  @Get()
  @Security("bearer", ["library:read"])
  async listPlaylists(@Request() request: express.Request): Promise<{ data: { playlists: Playlist[] } }> {
    const found = await this.parts.readLibrary.playlists(exchangeOf(request).account.id);
    return { data: { playlists: await presentPlaylists(found, this.parts) } };
  }

  /**
   * One playlist with its tracks in their order, without those that the account may not play. A track that has no audio yet is among them.
   * @summary One playlist with tracks
   * @param id The playlist's id.
   */
  @Get("{id}")
  @Security("bearer", ["library:read"])
  async getPlaylist(@Request() request: express.Request, @Path() id: string): Promise<{ data: Playlist }> {
    return {
      data: presentPlaylist(await this.parts.readLibrary.playlist(exchangeOf(request).account.id, id), this.parts),
    };
  }
}
