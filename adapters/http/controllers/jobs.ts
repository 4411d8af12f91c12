import { Get, Header, Path, Post, Produces, Request, Response as Returns, Route, Security, Tags } from "@tsoa/runtime";
import type express from "express";
import { type StreamedEvent, sendEvents } from "../event-stream.js";
import { contextOf } from "../request-context.js";
import type { HttpDeps } from "../deps.js";
import { mayReadResults } from "../create-generation.js";
import { type Job, type JobCancellation, presentJob } from "../presenters/job.js";
import { presentEvent, presentOutlook } from "../presenters/timeline.js";

/** A stream ends after this time, and its client connects again. */
const STREAM_MAX_MS = 900_000;

@Route("api/v1/jobs")
@Tags("Jobs")
export class JobsController {
  constructor(private readonly deps: Pick<HttpDeps, "readGenerations" | "cancelJob" | "followJobs" | "audioUrls">) {}

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

  /**
   * Cancels one of the account's own jobs. While nothing is bought at a provider it ends and is refunded at once. What
   * is bought is cancelled at the provider where it can do that, and is refunded when it confirms within some seconds
   * or later; otherwise it runs to its end. `outcome` says which. A cancelled job ends like one that failed, with
   * `error.details.reason` `cancelled`.
   *
   * Repeating the request is safe: it changes nothing more, and says how the job is then.
   * @summary Cancel a job
   * @param job_id The id returned when the job was created.
   */
  @Post("{job_id}/cancel")
  @Security("bearer", ["generations:create"])
  async cancelJob(@Request() request: express.Request, @Path() job_id: string): Promise<{ data: JobCancellation }> {
    const context = contextOf(request);
    const { cancelJob, audioUrls } = this.deps;
    const { outcome, found } = await cancelJob.execute(context.account.id, job_id, context.noRequestWaits());
    context.jobId = found.job.id;
    const shown = mayReadResults(context) ? found : { ...found, tracks: [], outputs: [] };
    return { data: { outcome, job: presentJob(shown, audioUrls) } };
  }

  /**
   * Follows a job by server-sent events: all that happened to it, then what happens, until it has ended. `outlook` says
   * where it stands and when it is expected to end; the others are named after what happened, and the last is
   * `completed` or `failed` with the whole job. A client that was cut off goes on after the event that it names.
   * @summary Follow a job
   * @param job_id The id returned when the job was created.
   * @param lastEventId The id of the last event that the client has.
   */
  @Get("{job_id}/events")
  @Security("bearer", ["generations:read"])
  @Produces("text/event-stream")
  @Returns<void>(204, "The job has ended, and the client has its last event: it need not connect again.")
  async followJob(
    @Request() request: express.Request,
    @Path() job_id: string,
    @Header("Last-Event-ID") lastEventId?: string,
  ): Promise<string> {
    const context = contextOf(request);
    const response = request.res as express.Response;
    const signal = AbortSignal.any([context.noRequestWaits(), AbortSignal.timeout(STREAM_MAX_MS)]);
    const after = lastEventId ?? null;
    const updates = await this.deps.followJobs.follow(context.account.id, job_id, after, signal);
    if (updates === null) response.status(204).end();
    else await sendEvents(response, this.toEvents(updates));
    return "";
  }

  private async *toEvents(
    updates: NonNullable<Awaited<ReturnType<HttpDeps["followJobs"]["follow"]>>>,
  ): AsyncGenerator<StreamedEvent> {
    let last: StreamedEvent | null = null;
    for await (const update of updates) {
      if (update.type === "outlook") yield { name: "outlook", data: presentOutlook(update.outlook) };
      else if (update.type === "ended") {
        if (last !== null)
          yield { ...last, data: { ...last.data, job: presentJob(update.found, this.deps.audioUrls) } };
      } else {
        const { id, type } = update.event;
        const event = { id, name: type, data: presentEvent(update.event) };
        // The job's end carries the job, which comes with the next update.
        if (type === "completed" || type === "failed") last = event;
        else yield event;
      }
    }
  }
}
