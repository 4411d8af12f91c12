import type { ManageAccounts } from "../accounts/manage-accounts.js";
import type { RecordsActions } from "../audit/audit-trail.js";
import { OperationRefusedError, UnknownObjectError } from "../errors.js";
import { isId, type JobId, type TrackId } from "../ids.js";
import type { Job, SourceUse } from "../jobs/job.js";
import type { JobStore } from "../ports/job-store.js";
import type { Tracer } from "../ports/tracer.js";
import { traced } from "../tracing/traced.js";
import type { AcceptGeneration } from "./accept-generation.js";
import type { GivenReference } from "./reference-rules.js";
import type { GenerationInput } from "./request-rules.js";
import type { StartSplit } from "./start-split.js";

/** The job that does what a failed one was to do. */
export interface RetriedJob {
  readonly id: JobId;
  /** It was there already; nothing was started or charged now. */
  readonly isRepeated: boolean;
}

export interface RetryJobsDeps {
  readonly jobs: Pick<JobStore, "findJobs">;
  readonly accept: Pick<AcceptGeneration, "execute">;
  readonly accounts: Pick<ManageAccounts, "get">;
  readonly splits: Pick<StartSplit, "start">;
  readonly audit: Pick<RecordsActions, "alongside">;
  readonly tracer: Tracer | null;
}

/** In place of method and path: what the key of a retry is compared by. */
const CALL = "jobs.retry";
const ACCEPTED = 202;

/** Starts failed jobs once more, as new ones: by the rules, and at the price, that hold now. */
export class RetryJobs {
  constructor(private readonly deps: RetryJobsDeps) {}

  /**
   * Does again what a failed job was to do, for the same account, which is charged for the new job alone. While
   * `idempotency.ttlHours` last, a repeated call returns the same job.
   *
   * @throws {UnknownObjectError} no such job
   * @throws {OperationRefusedError} it has not failed, or what it was asked for is not kept any more
   * @throws as {@link AcceptGeneration.execute} and {@link StartSplit.start}
   */
  async retry(id: string): Promise<RetriedJob> {
    const job = isId("job", id) ? (await this.deps.jobs.findJobs([id])).get(id) : undefined;
    if (job === undefined) throw new UnknownObjectError(`There is no job ${id}.`);
    if (job.status !== "failed")
      throw new OperationRefusedError(`The job ${id} is ${job.status}; a failed one is retried.`);
    const { tracer } = this.deps;
    const { trace, kind } = job;
    return traced(
      tracer,
      () => ({ name: "retry job", parent: tracer?.current() ?? null, links: trace === null ? [] : [trace] }),
      () => (kind === "music" ? this.generate(job) : this.split(job, kind)),
    );
  }

  private async generate(job: Job): Promise<RetriedJob> {
    const { accept, accounts, audit } = this.deps;
    // No request has an empty prompt; retention deletes it, and the deletion of its tracks does.
    if (job.request.prompt === "")
      throw new OperationRefusedError(`What the job ${job.id} was asked for is not kept any more.`);
    const result = await accept.execute({
      account: await accounts.get(job.accountId),
      input: inputOf(job),
      requestId: null,
      idempotency: {
        key: keyOf(job),
        route: CALL,
        body: { id: job.id },
        present: ({ id }) => ({ status: ACCEPTED, body: JSON.stringify({ id }) }),
      },
      limitExceeded: null,
      alongside: audit.alongside(({ id, accountId, creditsCharged }) => ({
        action: "jobs.retry",
        accountId,
        targets: [job.id, id],
        fields: { credits: creditsCharged },
      })),
    });
    if (result.kind === "accepted") return { id: result.job.id, isRepeated: false };
    return { id: result.record.jobId, isRepeated: true };
  }

  /** Recorded as the start of a split. */
  private async split({ accountId, request, ...job }: Job, kind: Exclude<Job["kind"], "music">): Promise<RetriedJob> {
    const { sourceTrackId: trackId, client, metadata } = request;
    if (trackId === null) throw new OperationRefusedError(`The track of the job ${job.id} is not known any more.`);
    const options = { ...(client === null ? {} : { client }), ...(metadata === null ? {} : { metadata }) };
    const started = await this.deps.splits.start({ kind, accountId, trackId, reference: keyOf(job), ...options });
    return { id: started.id, isRepeated: started.isRepeated };
  }
}

function keyOf({ id }: Pick<Job, "id">): string {
  return `retry of ${id}`;
}

/** The request of a job as a caller would give it again. */
function inputOf({ modelId, request }: Pick<Job, "modelId" | "request">): GenerationInput {
  const { prompt, lyrics, durationSeconds, instrumental, client, metadata, options, sourceTrackId, sourceUse } =
    request;
  return {
    modelId,
    prompt,
    lyrics: lyrics ?? undefined,
    duration: durationSeconds ?? undefined,
    instrumental,
    client: client ?? undefined,
    metadata: metadata ?? undefined,
    options,
    reference: sourceTrackId === null || sourceUse === null ? undefined : referenceOf(sourceTrackId, sourceUse),
  };
}

function referenceOf(trackId: TrackId, { mode, fromSeconds, toSeconds, strength }: SourceUse): GivenReference {
  return {
    trackId,
    mode,
    from: fromSeconds ?? undefined,
    to: toSeconds ?? undefined,
    strength: strength ?? undefined,
  };
}
