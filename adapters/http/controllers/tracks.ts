import { Get, Path, Request, Route, Security, Tags } from "@tsoa/runtime";
import type express from "express";
import { exchangeOf } from "../exchange.js";
import type { HttpParts } from "../parts.js";
import { presentTrack, type Track } from "../presenters/track.js";

@Route("api/v1/tracks")
@Tags("Library")
export class TracksController {
  constructor(private readonly parts: Pick<HttpParts, "readLibrary" | "audioUrls" | "shareUrls">) {}

  /**
   * One track: the account's own, or a public one.
   * @summary One track
   * @param id The track's id.
   */
  @Get("{id}")
  @Security("bearer", ["library:read"])
  async getTrack(@Request() request: express.Request, @Path() id: string): Promise<{ data: Track }> {
    return { data: presentTrack(await this.parts.readLibrary.track(exchangeOf(request).account.id, id), this.parts) };
  }
}
