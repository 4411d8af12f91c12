import {
  Body,
  Delete,
  Get,
  Middlewares,
  Patch,
  Path,
  Post,
  Query,
  Request,
  Route,
  Security,
  SuccessResponse,
  Tags,
} from "@tsoa/runtime";
import type express from "express";
import { InvalidRequestError } from "../../../core/errors.js";
import type { AccountId } from "../../../core/ids.js";
import { contextOf } from "../request-context.js";
import { conditional } from "../middleware/conditional.js";
import type { HttpDeps } from "../deps.js";
import { jsonBody } from "../middleware/json-body.js";
import { type Playlist, presentPlaylist, presentPlaylists } from "../presenters/playlist.js";

/** A new playlist of the account. */
export interface PlaylistRequest {
  /** One line, 1 to 200 characters. */
  title: string;
  /** Ids of at most 500 tracks that the account may play, in their order; none by default. */
  tracks?: string[];
}

/** What is left out stays. Removing comes before adding, moving last. */
export interface PlaylistChanges {
  /** One line, 1 to 200 characters. */
  title?: string;
  /** Takes one back that an operator has made public; only operators make playlists public. */
  visibility?: "private";
  /** Replaces all tracks, in this order; not together with `add`, `remove` and `move`. */
  tracks?: string[];
  /** Ids of tracks that come to the end; those that are in it stay where they are. */
  add?: string[];
  /** Ids of tracks; one that is not in it is no error. */
  remove?: string[];
  move?: PlaylistTrackMove;
}

/** A track that gets another place. */
export interface PlaylistTrackMove {
  track: string;
  /**
   * Among the tracks, from 0; a place behind the end is the end.
   * @isInt
   */
  to: number;
}

@Route("api/v1/playlists")
@Tags("Library")
export class PlaylistsController {
  constructor(private readonly deps: Pick<HttpDeps, "readLibrary" | "ownLibrary" | "audioUrls" | "shareUrls">) {}

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
    return { data: await this.shown(contextOf(request).account.id, id) };
  }

  /**
   * Makes a playlist of the account's own, which only the account sees. An account may have 1,000.
   *
   * A request that is sent again makes another playlist: there is no Idempotency-Key.
   * @summary Create a playlist
   */
  @Post()
  @Security("bearer", ["generations:create"])
  @SuccessResponse(201, "Created")
  @Middlewares(jsonBody)
  async createPlaylist(
    @Request() request: express.Request,
    @Body() body: PlaylistRequest,
  ): Promise<{ data: Playlist }> {
    const { id: accountId } = contextOf(request).account;
    const { title, tracks } = body;
    const { id } = await this.deps.ownLibrary.createPlaylist({ title, visibility: "private", tracks, accountId });
    return { data: await this.shown(accountId, id) };
  }

  /**
   * Changes title, visibility or tracks of one of the account's own playlists.
   * @summary Change a playlist
   * @param id The playlist's id.
   */
  @Patch("{id}")
  @Security("bearer", ["generations:create"])
  @Middlewares(jsonBody)
  async changePlaylist(
    @Request() request: express.Request,
    @Path() id: string,
    @Body() body: PlaylistChanges,
  ): Promise<{ data: Playlist }> {
    if (Object.keys(body).length === 0)
      throw new InvalidRequestError([{ path: "body", message: "must name what is to change" }]);
    const { id: owner } = contextOf(request).account;
    await this.deps.ownLibrary.editPlaylist(id, body, { owner });
    return { data: await this.shown(owner, id) };
  }

  /**
   * Deletes one of the account's own playlists. Its tracks stay.
   * @summary Delete a playlist
   * @param id The playlist's id.
   */
  @Delete("{id}")
  @Security("bearer", ["generations:create"])
  @SuccessResponse(204, "Deleted")
  async deletePlaylist(@Request() request: express.Request, @Path() id: string): Promise<void> {
    await this.deps.ownLibrary.deletePlaylist(id, { owner: contextOf(request).account.id });
  }

  private async shown(viewer: AccountId, id: string): Promise<Playlist> {
    return presentPlaylist(await this.deps.readLibrary.playlist(viewer, id), this.deps);
  }
}
