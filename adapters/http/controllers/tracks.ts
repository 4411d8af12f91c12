import {
  Body,
  Delete,
  Get,
  Header,
  Middlewares,
  Path,
  Post,
  Request,
  Route,
  Security,
  SuccessResponse,
  Tags,
} from "@tsoa/runtime";
import type express from "express";
import { contextOf } from "../request-context.js";
import { bodyClient } from "../middleware/body-client.js";
import { conditional } from "../middleware/conditional.js";
import { idempotencyKey } from "../middleware/idempotency-key.js";
import { multipart } from "../middleware/multipart.js";
import { optionalJsonBody } from "../middleware/optional-json-body.js";
import { createSplit, type SplitRequest } from "../create-split.js";
import type { HttpDeps } from "../deps.js";
import type { AcceptedSplit } from "../presenters/split.js";
import { presentSingleTrack, presentTrack, type SingleTrack, type Track } from "../presenters/track.js";
import { presentTrackDetails, type TrackDetails } from "../presenters/track-details.js";
import { uploadTrack } from "../upload-track.js";

@Route("api/v1/tracks")
@Tags("Library")
export class TracksController {
  constructor(
    private readonly deps: Pick<
      HttpDeps,
      "readLibrary" | "acceptSplit" | "ownLibrary" | "uploadTrack" | "audioUrls" | "shareUrls"
    >,
  ) {}

  /**
   * Makes a private track of the account's own from an audio file, with length, waveform, preview and cover. What the
   * file is shows in its bytes: MP3, WAV, FLAC, Ogg Vorbis or Ogg Opus. Costs no credits; the account's tier has a
   * quota.
   *
   * A request that is sent again makes another track: there is no Idempotency-Key.
   * @summary Upload a track
   */
  @Post()
  @Security("bearer", ["generations:create"])
  @SuccessResponse(201, "Created")
  @Middlewares(multipart)
  async uploadTrack(@Request() request: express.Request): Promise<{ data: Track }> {
    const { account } = contextOf(request);
    return { data: presentTrack(await uploadTrack(request, this.deps.uploadTrack, account.id), this.deps) };
  }

  /**
   * One track: the account's own, or a public one. Lyrics are shown here alone, where the provider gave any.
   * @summary One track
   * @param id The track's id.
   */
  @Get("{id}")
  @Security("bearer", ["library:read"])
  @Middlewares(conditional)
  async getTrack(@Request() request: express.Request, @Path() id: string): Promise<{ data: SingleTrack }> {
    const found = await this.deps.readLibrary.trackWithLyrics(contextOf(request).account.id, id);
    return { data: presentSingleTrack(found, this.deps) };
  }

  /**
   * What there is to know of a track beyond its own fields: its waveform, and how it can be split into stems here, for
   * how many credits.
   * @summary Details of a track
   * @param id The track's id.
   */
  @Get("{id}/details")
  @Security("bearer", ["library:read"])
  @Middlewares(conditional)
  async getTrackDetails(@Request() request: express.Request, @Path() id: string): Promise<{ data: TrackDetails }> {
    const track = await this.deps.readLibrary.track(contextOf(request).account.id, id);
    return { data: presentTrackDetails(track, await this.deps.acceptSplit.offersFor(track)) };
  }

  /**
   * Deletes one of the account's own tracks for good: its files, its lyrics, its places in playlists, and the stems
   * that the account had it split into. The links to them and the public page end at once. The generations and jobs
   * stay, without what is deleted. Refused while a job works from the track.
   * @summary Delete a track
   * @param id The track's id.
   */
  @Delete("{id}")
  @Security("bearer", ["generations:create"])
  @SuccessResponse(204, "Deleted")
  async deleteTrack(@Request() request: express.Request, @Path() id: string): Promise<void> {
    await this.deps.ownLibrary.deleteTrack(id, { owner: contextOf(request).account.id });
  }

  /**
   * Splits a track into stems, such as vocals, drums, bass and all the rest, and reserves the credits. Poll
   * `status_url`: the job's outputs are the stems.
   *
   * Repeat a request whose response was lost with the same Idempotency-Key: it is never carried out twice.
   * @summary Split a track into stems
   * @param id The track's id: the account's own, or a public one.
   * @param key Makes a retry safe: 1 to 255 printable ASCII characters, new for every split.
   */
  @Post("{id}/stems")
  @Security("bearer", ["generations:create"])
  @SuccessResponse(202, "Accepted")
  @Middlewares(optionalJsonBody, bodyClient, idempotencyKey)
  splitTrack(
    @Request() request: express.Request,
    @Path() id: string,
    @Header("Idempotency-Key") key: string,
    @Body() body: SplitRequest = {},
  ): Promise<{ data: AcceptedSplit }> {
    return createSplit(request, "stem_split", id, body, key);
  }

  /**
   * Splits a track into vocals and all the rest, and reserves the credits. Poll `status_url`: the job's outputs are the
   * two files.
   *
   * Repeat a request whose response was lost with the same Idempotency-Key: it is never carried out twice.
   * @summary Remove the vocals of a track
   * @param id The track's id: the account's own, or a public one.
   * @param key Makes a retry safe: 1 to 255 printable ASCII characters, new for every split.
   */
  @Post("{id}/vocal-removal")
  @Security("bearer", ["generations:create"])
  @SuccessResponse(202, "Accepted")
  @Middlewares(optionalJsonBody, bodyClient, idempotencyKey)
  removeVocals(
    @Request() request: express.Request,
    @Path() id: string,
    @Header("Idempotency-Key") key: string,
    @Body() body: SplitRequest = {},
  ): Promise<{ data: AcceptedSplit }> {
    return createSplit(request, "vocal_removal", id, body, key);
  }

  /**
   * Opens the public page of one of the account's own tracks, `share_url`. A track that is shared already keeps its
   * address.
   * @summary Share a track
   * @param id The track's id.
   */
  @Post("{id}/share")
  @Security("bearer", ["generations:create"])
  async shareTrack(@Request() request: express.Request, @Path() id: string): Promise<{ data: Track }> {
    const { account } = contextOf(request);
    return { data: presentTrack(await this.deps.ownLibrary.share(id, { owner: account.id }), this.deps) };
  }

  /**
   * Closes the public page for good: sharing the track again gives another address. The links to the track's files that
   * were given out before end with it, so use those of the response.
   * @summary Stop sharing a track
   * @param id The track's id.
   */
  @Delete("{id}/share")
  @Security("bearer", ["generations:create"])
  async unshareTrack(@Request() request: express.Request, @Path() id: string): Promise<{ data: Track }> {
    const { account } = contextOf(request);
    return { data: presentTrack(await this.deps.ownLibrary.unshare(id, { owner: account.id }), this.deps) };
  }
}
