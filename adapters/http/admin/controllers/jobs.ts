import { Body, Get, Middlewares, Path, Post, Put, Query, Route, Security, SuccessResponse, Tags } from "@tsoa/runtime";
import type { ShownJob } from "../../../../core/jobs/shown-job.js";
import type { Submissions } from "../../../../core/execution/submission-switch.js";
import type { HttpDeps } from "../../deps.js";
import { jsonBody } from "../../middleware/json-body.js";
import { type Job, presentJob } from "../../presenters/job.js";
import { type Outlook, presentTimeline } from "../../presenters/timeline.js";
import { type AdminDeps, adminOf } from "../deps.js";
import { moment } from "../presenters.js";
import { defined } from "../values.js";

/** A job in a list. */
export interface AdminJob {
  id: string;
  account: string;
  kind: "music" | "stem_split" | "vocal_removal";
  operation: string;
  provider: string;
  /** As the caller named it. */
  model: string;
  status: "queued" | "processing" | "completed" | "failed";
  /** What is known of the provider's side, finer than the status. */
  phase: "waiting" | "submitting" | "rendering" | "ended";
  /**
   * Attempts so far.
   * @isInt
   */
  attempts: number;
  /** @isInt */
  credits_charged: number;
  error: { code: string; message: string } | null;
  /** @format date-time */
  created_at: string;
  /** @format date-time */
  ended_at: string | null;
  /** @format date-time */
  cancel_requested_at: string | null;
}

/** A job with all that happened to it. */
export interface AdminJobReport {
  job: AdminJob;
  /** As its account sees it. */
  shown: Job;
  /** What was asked for. */
  request: { [member: string]: unknown };
  timeline: { events: { [member: string]: unknown }[]; outlook: Outlook };
}

export interface CancelRequest {
  /** Ends and refunds it at once, also when its provider delivers and bills it later. */
  force?: boolean;
}

export interface SubmissionsRequest {
  state: "active" | "paused";
}

function presentAdminJob(job: ShownJob): AdminJob {
  return {
    id: job.id,
    account: job.accountId,
    kind: job.kind,
    operation: job.operation,
    provider: job.providerId,
    model: job.modelId,
    status: job.status,
    phase: job.phase,
    attempts: job.attempt,
    credits_charged: job.creditsCharged,
    error: job.error === null ? null : { code: job.error.code, message: job.error.message },
    created_at: moment(job.createdAt) as string,
    ended_at: moment(job.completedAt),
    cancel_requested_at: moment(job.cancelRequestedAt),
  };
}

/** A job that an operator started. */
export interface StartedJob {
  job: AdminJob;
  /** It was there already: nothing was started or charged now. */
  repeated: boolean;
}

export function presentStartedJob({ isRepeated, ...job }: ShownJob & { readonly isRepeated: boolean }): StartedJob {
  return { job: presentAdminJob(job), repeated: isRepeated };
}

@Route("admin/v1/jobs")
@Tags("Jobs")
export class AdminJobsController {
  private readonly admin: AdminDeps;

  constructor(private readonly deps: HttpDeps) {
    this.admin = adminOf(deps);
  }

  /**
   * Jobs of all accounts, newest first.
   * @summary List jobs
   * @param provider The provider that does it, or did last.
   * @param account The id of an account.
   * @param after The id of the last job of the page before.
   * @isInt limit
   * @minimum limit 1
   * @maximum limit 1000
   */
  @Get()
  @Security("admin", ["read"])
  async listJobs(
    @Query() status?: "queued" | "processing" | "completed" | "failed",
    @Query() kind?: "music" | "stem_split" | "vocal_removal",
    @Query() provider?: string,
    @Query() account?: string,
    @Query() after?: string,
    @Query() limit = 50,
  ): Promise<{ data: { jobs: AdminJob[] } }> {
    const accountId = account === undefined ? undefined : (await this.admin.accounts.get(account)).id;
    const last = after === undefined ? undefined : (await this.admin.jobs.show(after)).job;
    const filter = defined({ status, kind, providerId: provider, accountId, after: last });
    return { data: { jobs: (await this.admin.jobs.list({ ...filter, limit })).map(presentAdminJob) } };
  }

  /**
   * A job with its request, its result and its timeline.
   * @summary Show a job
   */
  @Get("{id}")
  @Security("admin", ["read"])
  async getJob(@Path() id: string): Promise<{ data: AdminJobReport }> {
    const report = await this.admin.jobs.show(id);
    const { events, outlook } = presentTimeline(report.timeline);
    return {
      data: {
        job: presentAdminJob(report.job),
        shown: presentJob(report, this.deps.audioUrls),
        request: { ...report.job.request },
        timeline: { events: events as { [member: string]: unknown }[], outlook },
      },
    };
  }

  /**
   * Cancels a job: refunded at once while nothing is bought, otherwise by what its provider confirms.
   * @summary Cancel a job
   */
  @Post("{id}/cancel")
  @Security("admin", ["operate"])
  @Middlewares(jsonBody)
  async cancelJob(
    @Path() id: string,
    @Body() body: CancelRequest,
  ): Promise<{ data: { outcome: "cancelled" | "running" | "ended"; job: AdminJob } }> {
    const { outcome } = await this.admin.jobs.cancel(id, defined(body));
    return { data: { outcome, job: presentAdminJob((await this.admin.jobs.show(id)).job) } };
  }

  /**
   * Starts what failed once more, as a new job that its account pays. A repeated call returns the same job.
   * @summary Retry a failed job
   */
  @Post("{id}/retry")
  @Security("admin", ["operate"])
  @SuccessResponse(202)
  async retryJob(@Path() id: string): Promise<{ data: StartedJob }> {
    const { id: retried, isRepeated } = await this.admin.retryJobs.retry(id);
    const { job } = await this.admin.jobs.show(retried);
    return { data: presentStartedJob({ ...job, isRepeated }) };
  }
}

@Route("admin/v1/submissions")
@Tags("Jobs")
export class AdminSubmissionsController {
  private readonly admin: AdminDeps;

  constructor(deps: HttpDeps) {
    this.admin = adminOf(deps);
  }

  /**
   * Whether new work is bought at providers.
   * @summary Show submissions
   */
  @Get()
  @Security("admin", ["read"])
  async getSubmissions(): Promise<{ data: { state: "active" | "paused"; changed_at: string | null } }> {
    return { data: presentSubmissions(await this.admin.submissions.find()) };
  }

  /**
   * Pauses or resumes the buying of new work, in all processes within seconds. Jobs are accepted and wait; what
   * providers have goes on.
   * @summary Pause or resume submissions
   */
  @Put()
  @Security("admin", ["operate"])
  @Middlewares(jsonBody)
  async setSubmissions(
    @Body() body: SubmissionsRequest,
  ): Promise<{ data: { state: "active" | "paused"; changed_at: string | null } }> {
    const { submissions } = this.admin;
    return { data: presentSubmissions(await (body.state === "paused" ? submissions.pause() : submissions.resume())) };
  }
}

function presentSubmissions({ state, changedAt }: Submissions): {
  state: "active" | "paused";
  changed_at: string | null;
} {
  return { state, changed_at: moment(changedAt) };
}
