import {
  Body,
  Delete,
  Get,
  Middlewares,
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
import type { SplitKind } from "../../../../core/jobs/job.js";
import type { HttpDeps } from "../../deps.js";
import { jsonBody } from "../../middleware/json-body.js";
import { multipart } from "../../middleware/multipart.js";
import { optionalJsonBody } from "../../middleware/optional-json-body.js";
import { uploadTrack } from "../../upload-track.js";
import { type AdminDeps, adminOf } from "../deps.js";
import {
  type AdminPlaylist,
  type AdminTrack,
  type AdminTrackReport,
  presentAdminPlaylist,
  presentAdminTrack,
  presentTrackReport,
} from "../library-presenters.js";
import { defined } from "../values.js";
import { presentStartedJob, type StartedJob } from "./jobs.js";

export interface AdminSplitRequest {
  /** The account that pays and gets the stems; by default the track's owner. */
  account?: string;
  /**
   * What the account calls it, 1 to 255 printable ASCII characters: a repeated request with the same reference starts
   * and charges nothing.
   */
  reference?: string;
}

/** The id that an item of an import got. */
export interface ImportedItem {
  ref: string;
  id: string;
}

@Route("admin/v1/accounts/{id}/tracks")
@Tags("Library")
export class AdminAccountTracksController {
  private readonly admin: AdminDeps;

  constructor(private readonly deps: HttpDeps) {
    this.admin = adminOf(deps);
  }

  /**
   * Finds playable tracks and playlists as the account does: its own, and public ones. Filters combine; without any,
   * everything is found. The best come first, then the newest.
   * @summary Search tracks and playlists
   * @param q Words, at most 16: each must start a word of title, artist, prompt or tags.
   * @param mood A mood that the track is tagged with.
   * @param activity An activity that the track is tagged with.
   * @param limit Most tracks, and most playlists, to return.
   * @isInt limit
   * @minimum limit 1
   * @maximum limit 25
   */
  @Get()
  @Security("admin", ["read"])
  async searchTracks(
    @Path() id: string,
    @Query() q?: string,
    @Query() mood?: string,
    @Query() activity?: string,
    @Query() limit?: number,
  ): Promise<{ data: { tracks: AdminTrack[]; playlists: AdminPlaylist[] } }> {
    const { accounts, library } = this.admin;
    const { id: viewer } = await accounts.get(id);
    const { tracks, playlists } = await library.read.search(viewer, { q, mood, activity, limit });
    return {
      data: {
        tracks: tracks.map((track) => presentAdminTrack(track, this.deps)),
        playlists: playlists.map(presentAdminPlaylist),
      },
    };
  }

  /**
   * Makes a private track of the account from an audio file, as `POST /api/v1/tracks` does for itself. Costs no
   * credits; the quota of the account's tier holds. A request that is sent again makes another track.
   * @summary Upload a track
   */
  @Post()
  @Security("admin", ["operate"])
  @SuccessResponse(201)
  @Middlewares(multipart)
  async uploadTrack(@Request() request: express.Request, @Path() id: string): Promise<{ data: AdminTrack }> {
    return { data: presentAdminTrack(await uploadTrack(request, this.admin.library.operateUploads, id), this.deps) };
  }
}

@Route("admin/v1/tracks")
@Tags("Library")
export class AdminTracksController {
  private readonly admin: AdminDeps;

  constructor(private readonly deps: HttpDeps) {
    this.admin = adminOf(deps);
  }

  /**
   * A track of any account, with its lyrics and how it can be split.
   * @summary Show a track
   */
  @Get("{id}")
  @Security("admin", ["read"])
  async getTrack(@Path() id: string): Promise<{ data: AdminTrackReport }> {
    const found = await this.admin.library.manage.trackWithLyrics(id);
    return { data: presentTrackReport(found, await this.deps.acceptSplit.offersFor(found.track), this.deps) };
  }

  /**
   * Deletes a track of any account for good, as `DELETE /api/v1/tracks/{id}` does for its owner. Refused while a job
   * works from it.
   * @summary Delete a track
   */
  @Delete("{id}")
  @Security("admin", ["operate"])
  async deleteTrack(@Path() id: string): Promise<{ data: { id: string; deleted: boolean } }> {
    return { data: { id: await this.admin.library.manage.deleteTrack(id), deleted: true } };
  }

  /**
   * Opens the public page of a track, `share_url`. A track that is shared already keeps its address.
   * @summary Share a track
   */
  @Post("{id}/share")
  @Security("admin", ["operate"])
  async shareTrack(@Path() id: string): Promise<{ data: AdminTrack }> {
    return { data: presentAdminTrack(await this.admin.library.manage.share(id), this.deps) };
  }

  /**
   * Closes the public page for good: sharing the track again gives another address. The links to its files that were
   * given out before end with it.
   * @summary Stop sharing a track
   */
  @Delete("{id}/share")
  @Security("admin", ["operate"])
  async unshareTrack(@Path() id: string): Promise<{ data: AdminTrack }> {
    return { data: presentAdminTrack(await this.admin.library.manage.unshare(id), this.deps) };
  }

  /**
   * Splits a track into stems, and reserves the credits of the account. The job's outputs are the stems.
   * @summary Split a track into stems
   */
  @Post("{id}/stems")
  @Security("admin", ["operate"])
  @SuccessResponse(202)
  @Middlewares(optionalJsonBody)
  splitTrack(@Path() id: string, @Body() body: AdminSplitRequest = {}): Promise<{ data: StartedJob }> {
    return this.split("stem_split", id, body);
  }

  /**
   * Splits a track into vocals and all the rest, and reserves the credits of the account.
   * @summary Remove the vocals of a track
   */
  @Post("{id}/vocal-removal")
  @Security("admin", ["operate"])
  @SuccessResponse(202)
  @Middlewares(optionalJsonBody)
  removeVocals(@Path() id: string, @Body() body: AdminSplitRequest = {}): Promise<{ data: StartedJob }> {
    return this.split("vocal_removal", id, body);
  }

  private async split(
    kind: SplitKind,
    trackId: string,
    { account, reference }: AdminSplitRequest,
  ): Promise<{ data: StartedJob }> {
    const split = { kind, accountId: account ?? null, trackId, ...defined({ reference }) };
    return { data: presentStartedJob(await this.admin.splits.start(split)) };
  }
}

@Route("admin/v1/library/imports")
@Tags("Library")
export class AdminImportsController {
  private readonly admin: AdminDeps;

  constructor(deps: HttpDeps) {
    this.admin = adminOf(deps);
  }

  /**
   * Creates tracks and playlists, all or none, from the document that `fermata library import` reads:
   * `{ "tracks": […], "playlists": […] }`. A second import creates them again.
   *
   * An item with `audio_file` is refused, since a request has no files next to it: import those with the command line,
   * or upload them one by one. A track without audio cannot be played, and search does not find it.
   * @summary Import tracks and playlists
   */
  @Post()
  @Security("admin", ["operate"])
  @SuccessResponse(201)
  @Middlewares(jsonBody)
  async importLibrary(
    @Body() body: { [member: string]: unknown },
  ): Promise<{ data: { tracks: ImportedItem[]; playlists: ImportedItem[] } }> {
    const { tracks, playlists } = await this.admin.library.importer.execute(body, null);
    return { data: { tracks: [...tracks], playlists: [...playlists] } };
  }
}
