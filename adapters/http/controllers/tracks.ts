import { Get, Middlewares, Path, Post, Request, Route, Security, SuccessResponse, Tags } from "@tsoa/runtime";
import type express from "express";
import { contextOf } from "../request-context.js";
import { multipart } from "../middleware/multipart.js";
import type { HttpDeps } from "../deps.js";
import { presentSingleTrack, presentTrack, type SingleTrack, type Track } from "../presenters/track.js";
import { uploadTrack } from "../upload-track.js";

@Route("api/v1/tracks")
@Tags("Library")
export class TracksController {
  constructor(private readonly deps: Pick<HttpDeps, "readLibrary" | "audioUrls" | "shareUrls">) {}

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
    return { data: presentTrack(await uploadTrack(request), this.deps) };
  }

  /**
   * One track: the account's own, or a public one. Lyrics are shown here alone, where the provider gave any.
   * @summary One track
   * @param id The track's id.
   */
  @Get("{id}")
  @Security("bearer", ["library:read"])
  async getTrack(@Request() request: express.Request, @Path() id: string): Promise<{ data: SingleTrack }> {
    const found = await this.deps.readLibrary.trackWithLyrics(contextOf(request).account.id, id);
    return { data: presentSingleTrack(found, this.deps) };
  }
}
