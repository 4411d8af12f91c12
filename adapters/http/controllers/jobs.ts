import { Get, Path, Request, Route, Security, Tags } from "@tsoa/runtime";
import type express from "express";
import { contextOf } from "../request-context.js";
import type { HttpDeps } from "../deps.js";
import { type Job, presentJob } from "../presenters/job.js";

@Route("api/v1/jobs")
@Tags("Jobs")
export class JobsController {
  constructor(private readonly deps: Pick<HttpDeps, "readGenerations" | "audioUrls">) {}

  /**
   * Polls a music, stem split or vocal removal job. Its outputs are there once it completed.
   * @summary Poll async job
   * @param job_id The id returned when the job was created.
   */
  @Get("{job_id}")
  @Security("bearer", ["generations:read"])
  async getJob(@Request() request: express.Request, @Path() job_id: string): Promise<{ data: Job }> {
    const context = contextOf(request);
    const found = await this.deps.readGenerations.getJob(context.account.id, job_id);
    context.jobId = found.job.id;
    return { data: presentJob(found, this.deps.audioUrls) };
  }
}
