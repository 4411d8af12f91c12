import type { Request, Response } from "express";
import type { StoredResponse } from "../../core/ports/idempotency-store.js";
import type { Job, SplitKind } from "../../core/jobs/job.js";
import { type AcceptedSplit, jobUrlOf, presentAcceptedSplit } from "./presenters/split.js";
import { drawOnReads } from "./rate-limits.js";
import { contextOf } from "./request-context.js";
import { PreparedResponse } from "./send.js";

/** What is kept with a split; all of it may be left out, and the body with it. */
export interface SplitRequest {
  /** Label of the calling integration. */
  client?: string;
  /** Kept with the job, and returned in webhook events. At most 16 KiB as JSON and 8 levels deep. */
  metadata?: { [name: string]: unknown };
}

const ROUTES: Readonly<Record<SplitKind, string>> = {
  stem_split: "POST /api/v1/tracks/{id}/stems",
  vocal_removal: "POST /api/v1/tracks/{id}/vocal-removal",
};

/** Handles a request for a split after validation. Sends the stored response. */
export async function createSplit(
  request: Request,
  kind: SplitKind,
  trackId: string,
  body: SplitRequest,
  idempotencyKey: string,
): Promise<{ data: AcceptedSplit }> {
  const context = contextOf(request);
  const response = request.res as Response;
  const { deps, account } = context;
  const { publicUrl } = deps;
  const present = (job: Job): StoredResponse => ({
    status: 202,
    body: JSON.stringify({ data: presentAcceptedSplit(job, publicUrl.current) }),
  });
  const result = await deps.acceptSplit.execute({
    account,
    kind,
    trackId,
    client: body.client,
    metadata: body.metadata,
    requestId: context.requestId,
    requestedAt: context.startedAt,
    // The track is part of what was asked for: a key is good for one.
    idempotency: { key: idempotencyKey, route: ROUTES[kind], body: { ...body, track_id: trackId }, present },
    limitExceeded: context.allowance?.exceeded ?? null,
  });
  const isReplayed = result.kind === "replayed";
  if (isReplayed) {
    await drawOnReads(context, response);
    response.setHeader("Idempotent-Replayed", "true");
  }
  const [jobId, stored] = isReplayed
    ? [result.record.jobId, result.record.response]
    : [result.job.id, result.response ?? present(result.job)];
  context.jobId = jobId;
  response.setHeader("Location", jobUrlOf(jobId, publicUrl.current));
  // The generated route hands this on to `json`, which sends its bytes: they hold what the type says.
  return new PreparedResponse(stored.status, stored.body) as unknown as { data: AcceptedSplit };
}
