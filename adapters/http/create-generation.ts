import type { Request, Response } from "express";
import type { ErrorCode } from "../../core/error-codes.js";
import { ServiceUnavailableError } from "../../core/errors.js";
import type { GivenReference } from "../../core/generations/reference-rules.js";
import type { GenerationInput } from "../../core/generations/request-rules.js";
import type { StoredResponse } from "../../core/ports/idempotency-store.js";
import type { JobId } from "../../core/ids.js";
import type { Job } from "../../core/jobs/job.js";
import type { Track } from "../../core/library/track.js";
import type { Scope } from "../../core/ports/scopes.js";
import { STATUS_BY_CODE } from "./errors.js";
import { type ErrorEnvelope, toErrorEnvelope } from "./presenters/error.js";
import { type RequestContext, contextOf } from "./request-context.js";
import { preferredWaitSeconds } from "./prefer.js";
import { type AcceptedGeneration, presentAccepted, statusUrlOf } from "./presenters/generation.js";
import { drawOnReads } from "./rate-limits.js";
import { PreparedResponse } from "./send.js";

/** What is to be generated. Lengths count Unicode code points. */
export interface GenerationRequest {
  /** An id that `GET /api/v1/models` lists. */
  model_id: string;
  /** What the music should be like. */
  prompt: string;
  /** Words to sing, for a model that supports lyrics. */
  lyrics?: string;
  /**
   * Seconds, within the model's own bounds.
   * @isInt
   */
  duration?: number;
  /** Whether there must be no voice; not together with lyrics. */
  instrumental?: boolean;
  /** What the model takes beyond these, by name: `GET /api/v1/models` lists it. At most 20. */
  options?: { [name: string]: unknown };
  /** A track to work from, in a mode that the model has: `references` of the model. */
  reference?: GenerationReference;
  /** Label of the calling integration. */
  client?: string;
  /** Kept with the generation, and returned in webhook events. At most 16 KiB as JSON and 8 levels deep. */
  metadata?: { [name: string]: unknown };
}

/** A track to work from: the account's own, or a public one. */
export interface GenerationReference {
  /** Such as one that was uploaded. */
  track_id: string;
  /**
   * `extend` goes on from its end or earlier, `cover` creates another version of the same music, `inpaint` replaces a
   * part.
   */
  mode: "extend" | "cover" | "inpaint";
  /** Seconds: where `extend` goes on, or `inpaint` begins. */
  from?: number;
  /** Seconds: where `inpaint` ends. */
  to?: number;
  /** How much of the track is kept, 0 to 1, for a model that takes it. */
  strength?: number;
}

const ROUTE = "POST /api/v1/generations";
/** What a key needs to see the tracks of a generation, also in the response to its creation or cancellation. */
const READ_SCOPE: Scope = "generations:read";
const ACCEPTED = 202;
const BAD_GATEWAY = 502;

/** Handles `POST /api/v1/generations` after validation. Sends the stored response. */
export async function createGeneration(
  request: Request,
  body: GenerationRequest,
  idempotencyKey: string,
  prefer: string | undefined,
): Promise<{ data: AcceptedGeneration }> {
  const context = contextOf(request);
  const response = request.res as Response;
  const { deps, account } = context;

  const result = await deps.acceptGeneration.execute({
    account,
    input: generationInput(body),
    requestId: context.requestId,
    requestedAt: context.startedAt,
    idempotency: { key: idempotencyKey, route: ROUTE, body, present: (job) => acceptance(context, job) },
    limitExceeded: context.allowance?.exceeded ?? null,
  });

  if (result.kind === "replayed") {
    await drawOnReads(context, response);
    response.setHeader("Idempotent-Replayed", "true");
    return send(context, response, result.record.jobId, result.record.response);
  }
  // Noted before any wait: the client may not stay to its end.
  context.jobId = result.job.id;
  const accepted = result.response ?? acceptance(context, result.job);
  const waitSeconds = preferredWaitSeconds(prefer, deps.settings.maxWaitSeconds);
  const endWait = waitSeconds === null ? null : deps.waits.tryEnter(account.id);
  // A preference need not be honoured (RFC 7240, section 2): beyond the bound the job is accepted without a wait.
  if (waitSeconds === null || endWait === null) return send(context, response, result.job.id, accepted);
  try {
    response.setHeader("Preference-Applied", `wait=${waitSeconds}`);
    const received = await respondAfter(context, waitSeconds, result.job, accepted, idempotencyKey);
    return send(context, response, result.job.id, received);
  } finally {
    endWait();
  }
}

/** What a body asks for. */
export function generationInput({ model_id: modelId, reference, ...asked }: GenerationRequest): GenerationInput {
  return { modelId, ...asked, reference: reference === undefined ? undefined : givenReference(reference) };
}

function givenReference({ track_id: trackId, ...use }: GenerationReference): GivenReference {
  return { trackId, ...use };
}

function acceptance({ deps }: RequestContext, job: Job, tracks?: readonly Track[]): StoredResponse {
  return {
    status: ACCEPTED,
    body: JSON.stringify({ data: presentAccepted(job, deps.publicUrl.current, tracks, deps) }),
  };
}

/**
 * The response as of the job's end or of N seconds from now. When it cannot be recorded, the response on record is
 * sent.
 *
 * @throws {ServiceUnavailableError} the storage became unavailable while the response was recorded: a repeated request
 *   gets the one that was stored
 */
async function respondAfter(
  context: RequestContext,
  waitSeconds: number,
  job: Job,
  accepted: StoredResponse,
  idempotencyKey: string,
): Promise<StoredResponse> {
  const { deps, account } = context;
  const failed = (error: unknown): StoredResponse => {
    deps.logger.warn("Waiting for a job failed; the response says that it was accepted", {
      request_id: context.requestId,
      job_id: job.id,
      error,
    });
    return accepted;
  };
  let response: StoredResponse;
  try {
    const waited = await deps.waitForJob.wait(job.id, waitSeconds * 1000, context.noRequestWaits());
    // A key that was revoked meanwhile gets no links: the acceptance says what it had a right to.
    const isShown = waited !== undefined && (await context.isStillAuthorized());
    response = isShown ? await conclusion(context, waited) : accepted;
  } catch (error) {
    return failed(error);
  }
  if (response.body === accepted.body || context.clientIsGone) return accepted;
  try {
    await deps.recordResponse(account.id, idempotencyKey, job.id, response);
    return response;
  } catch (error) {
    // The commit may have gone through although its reply was lost.
    if (error instanceof ServiceUnavailableError) throw error;
    return failed(error);
  }
}

/** Whether the caller may see what a job created. */
export function mayReadResults({ caller }: Pick<RequestContext, "caller">): boolean {
  return caller?.scopes.includes(READ_SCOPE) === true;
}

/** 502 when the job failed for want of its provider, else its status as of now, with the tracks once it completed. */
async function conclusion(context: RequestContext, job: Job): Promise<StoredResponse> {
  if (job.error !== null && STATUS_BY_CODE[job.error.code] === BAD_GATEWAY)
    return { status: BAD_GATEWAY, body: JSON.stringify(toErrorEnvelope(job.error, context.requestId)) };
  if (job.status !== "completed" || !mayReadResults(context)) return acceptance(context, job);
  const [found] = await context.deps.readGenerations.withTracks([job]);
  return acceptance(context, job, found?.tracks);
}

function send(
  context: RequestContext,
  response: Response,
  jobId: JobId,
  result: StoredResponse,
): { data: AcceptedGeneration } {
  context.jobId = jobId;
  if (result.status === ACCEPTED)
    response.setHeader("Location", statusUrlOf({ id: jobId }, context.deps.publicUrl.current));
  else context.errorCode = codeIn(result);
  // The generated route hands this on to `json`, which sends its bytes: they hold what the type says.
  return new PreparedResponse(result.status, result.body) as unknown as { data: AcceptedGeneration };
}

function codeIn(response: StoredResponse): ErrorCode {
  return (JSON.parse(response.body) as ErrorEnvelope).error.code;
}
