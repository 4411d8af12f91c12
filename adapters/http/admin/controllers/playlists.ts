import {
  Body,
  Delete,
  Get,
  Middlewares,
  Patch,
  Path,
  Post,
  Route,
  Security,
  SuccessResponse,
  Tags,
} from "@tsoa/runtime";
import { InvalidRequestError } from "../../../../core/errors.js";
import type { NewPlaylist } from "../../../../core/library/manage-library.js";
import type { HttpDeps } from "../../deps.js";
import { jsonBody } from "../../middleware/json-body.js";
import { type AdminDeps, adminOf } from "../deps.js";
import {
  type AdminPlaylist,
  type AdminPlaylistReport,
  presentAdminPlaylist,
  presentPlaylistReport,
} from "../library-presenters.js";

export interface NewPublicPlaylistRequest {
  /** One line, 1 to 200 characters. */
  title: string;
  /** Ids of public tracks in their order; none by default. */
  tracks?: string[];
}

export interface NewPlaylistRequest {
  /** One line, 1 to 200 characters. */
  title: string;
  /** `private` by default. */
  visibility?: "public" | "private";
  /** Ids of tracks that the account may play, in their order; none by default. */
  tracks?: string[];
}

/** What is left out stays. Removing comes before adding, moving last. */
export interface PlaylistChangesRequest {
  /** One line, 1 to 200 characters. */
  title?: string;
  visibility?: "public" | "private";
  /** Replaces all tracks, in this order; not together with `add`, `remove` and `move`. */
  tracks?: string[];
  /** Ids of tracks that come to the end. */
  add?: string[];
  /** Ids of tracks. */
  remove?: string[];
  move?: PlaylistMove;
}

/** A track that gets another place. */
export interface PlaylistMove {
  track: string;
  /**
   * Among the tracks, from 0.
   * @isInt
   */
  to: number;
}

@Route("admin/v1/accounts/{id}/playlists")
@Tags("Library")
export class AdminAccountPlaylistsController {
  private readonly admin: AdminDeps;

  constructor(private readonly deps: HttpDeps) {
    this.admin = adminOf(deps);
  }

  /**
   * The account's own playlists and public ones, newest first: at most 200, and as many as hold 10,000 tracks
   * together.
   * @summary List playlists
   */
  @Get()
  @Security("admin", ["read"])
  async listPlaylists(@Path() id: string): Promise<{ data: { playlists: AdminPlaylist[] } }> {
    const { id: viewer } = await this.admin.accounts.get(id);
    return { data: { playlists: (await this.admin.library.read.playlists(viewer)).map(presentAdminPlaylist) } };
  }

  /**
   * Creates a playlist of the account.
   * @summary Create a playlist
   */
  @Post()
  @Security("admin", ["operate"])
  @SuccessResponse(201)
  @Middlewares(jsonBody)
  async createPlaylist(@Path() id: string, @Body() body: NewPlaylistRequest): Promise<{ data: AdminPlaylistReport }> {
    const { title, visibility = "private", tracks } = body;
    return { data: await created(this.admin, this.deps, { title, visibility, tracks, accountId: id }) };
  }
}

@Route("admin/v1/playlists")
@Tags("Library")
export class AdminPlaylistsController {
  private readonly admin: AdminDeps;

  constructor(private readonly deps: HttpDeps) {
    this.admin = adminOf(deps);
  }

  /**
   * Public playlists, those of accounts and those without one, newest first: at most 200, and as many as hold 10,000
   * tracks together.
   * @summary List public playlists
   */
  @Get()
  @Security("admin", ["read"])
  async listPublicPlaylists(): Promise<{ data: { playlists: AdminPlaylist[] } }> {
    return { data: { playlists: (await this.admin.library.read.playlists(null)).map(presentAdminPlaylist) } };
  }

  /**
   * Creates a public playlist that belongs to no account.
   * @summary Create a public playlist
   */
  @Post()
  @Security("admin", ["operate"])
  @SuccessResponse(201)
  @Middlewares(jsonBody)
  async createPublicPlaylist(@Body() body: NewPublicPlaylistRequest): Promise<{ data: AdminPlaylistReport }> {
    return { data: await created(this.admin, this.deps, { ...body, visibility: "public", accountId: null }) };
  }

  /**
   * A playlist of any account with all that it holds.
   * @summary Show a playlist
   */
  @Get("{id}")
  @Security("admin", ["read"])
  async getPlaylist(@Path() id: string): Promise<{ data: AdminPlaylistReport }> {
    return { data: presentPlaylistReport(await this.admin.library.manage.playlist(id), this.deps) };
  }

  /**
   * Changes title, visibility or tracks. New tracks have to be such as the owner may play; without an owner, public
   * ones.
   * @summary Change a playlist
   */
  @Patch("{id}")
  @Security("admin", ["operate"])
  @Middlewares(jsonBody)
  async changePlaylist(
    @Path() id: string,
    @Body() body: PlaylistChangesRequest,
  ): Promise<{ data: AdminPlaylistReport }> {
    if (Object.keys(body).length === 0)
      throw new InvalidRequestError([{ path: "body", message: "must name what is to change" }]);
    await this.admin.library.manage.editPlaylist(id, body);
    return this.getPlaylist(id);
  }

  /**
   * Deletes a playlist. Its tracks stay in the library.
   * @summary Delete a playlist
   */
  @Delete("{id}")
  @Security("admin", ["operate"])
  async deletePlaylist(@Path() id: string): Promise<{ data: { id: string; deleted: boolean } }> {
    return { data: { id: await this.admin.library.manage.deletePlaylist(id), deleted: true } };
  }
}

/** Creates a playlist, and shows it. */
async function created(
  { library: { manage } }: AdminDeps,
  links: HttpDeps,
  wanted: NewPlaylist,
): Promise<AdminPlaylistReport> {
  const { id } = await manage.createPlaylist(wanted);
  return presentPlaylistReport(await manage.playlist(id), links);
}
