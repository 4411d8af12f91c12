import { Get, Path, Request, Route, Security, Tags } from "@tsoa/runtime";
import type express from "express";
import { exchangeOf } from "../exchange.js";
import type { HttpParts } from "../parts.js";
import { type Job, presentJob } from "../presenters/job.js";

@Route("api/v1/jobs")
@Tags("Jobs")
export class JobsController {
  constructor(private readonly parts: Pick<HttpParts, "readGenerations" | "audioUrls">) {}

  /**
   * Polls a music, stem split or vocal removal job. Its outputs are there once it completed.
   * @summary Poll async job
   * @param job_id The id returned when the job was created.
   */
  @Get("{job_id}")
  @Security("bearer", ["generations:read"])
  async getJob(@Request() request: express.Request, @Path() job_id: string): Promise<{ data: Job }> {
    const exchange = exchangeOf(request);
    const found = await this.parts.readGenerations.getJob(exchange.account.id, job_id);
    exchange.jobId = found.job.id;
    return { data: presentJob(found, this.parts.audioUrls) };
  }
}
