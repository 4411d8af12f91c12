import type { AccountId, JobId, ProcessId, RequestId, TrackId } from "../../../../core/ids.js";
import type {
  Job,
  JobKind,
  JobOutput,
  JobPhase,
  JobRequest,
  JobState,
  JobStatus,
  RequestSummary,
} from "../../../../core/jobs/job.js";
import { fromJson, json, named, numberOr, plain, type RowOf, seconds, table } from "../table.js";

/** Members of a job's state, each in a column of its own. */
const MEMBERS = {
  id: plain<JobId>(),
  accountId: plain<AccountId>(),
  kind: plain<JobKind>(),
  operation: plain<string>(),
  providerId: plain<string>(),
  modelId: plain<string>(),
  servedModelId: plain<string | null>(),
  reference: plain<string | null>(),
  requestId: plain<RequestId | null>(),
  requestedAt: plain<number | null>(),
  trace: json<Job["trace"]>(),
  creditsCharged: plain<number>(),
  status: plain<JobStatus>(),
  phase: plain<JobPhase>(),
  attempt: plain<number>(),
  refusals: plain<number>(),
  crashes: plain<number>(),
  collectionsBegun: numberOr(0),
  cancelRequestedAt: plain<number | null>(),
  fence: plain<number>(),
  leaseOwner: plain<ProcessId | null>(),
  dueAt: plain<number | null>(),
  createdAt: plain<number>(),
  completedAt: plain<number | null>(),
  endedBy: plain<Job["endedBy"]>(),
  error: json<Job["error"]>(),
};

const STATE = {
  ...MEMBERS,
  /** Of the request. */
  client: plain<string | null>(),
  reservedMonthly: plain<number>(),
  reservedPack: plain<number>(),
};

/** Members of a request that came later: those of jobs of before lack them. */
type LaterMember = "sourceTrackId" | "sourceUse" | "options";
type StoredRequest = Omit<JobRequest, LaterMember> & Partial<Pick<JobRequest, LaterMember>>;

/** The part of it that lists show, without what is empty; null in rows from before the column. */
const shownRequest = json<Partial<RequestSummary> | null>();

export const JOBS = table("jobs", { ...STATE, request: json<StoredRequest>(), shownRequest }, ["id"]);
export type JobRow = RowOf<typeof JOBS>;

/** The same rows without what the caller asked for, which is long and stored in pages of its own. */
export const JOB_STATES = table("jobs", STATE, ["id"]);
export type JobStateRow = RowOf<typeof JOB_STATES>;

export function toJobRow(job: Job): JobRow {
  const { client } = job.request;
  const { monthly: reservedMonthly, pack: reservedPack } = job.reserved;
  return JOBS.toRow({ client, reservedMonthly, reservedPack, shownRequest: toShownRequest(job.request), ...job });
}

function toShownRequest({ options, sourceTrackId, sourceUse }: JobRequest): Partial<RequestSummary> {
  return {
    ...(Object.keys(options).length === 0 ? {} : { options }),
    ...(sourceTrackId === null ? {} : { sourceTrackId }),
    ...(sourceUse === null ? {} : { sourceUse }),
  };
}

const JOB_MEMBERS = table("jobs", MEMBERS, ["id"]);

export function toJobState(row: JobStateRow): JobState {
  const { reserved_monthly: monthly, reserved_pack: pack } = row;
  return { reserved: { monthly, pack }, ...JOB_MEMBERS.fromRow(row) };
}

export function toRequest({ request }: Pick<JobRow, "request">): JobRequest {
  return { sourceTrackId: null, sourceUse: null, options: {}, ...fromJson<StoredRequest>(request) };
}

export function toJob(row: JobRow): Job {
  return { request: toRequest(row), ...toJobState(row) };
}

/** The tracks that jobs work from, to find the jobs by; a job without one has no row. */
export const JOB_SOURCES = table("job_sources", { jobId: plain<JobId>(), trackId: plain<TrackId>() }, ["jobId"]);
export type SourceRow = RowOf<typeof JOB_SOURCES>;

export function toSourceRows({ id: jobId, request: { sourceTrackId: trackId } }: Job): SourceRow[] {
  return trackId === null ? [] : [JOB_SOURCES.toRow({ jobId, trackId })];
}

export const JOB_OUTPUTS = table(
  "job_outputs",
  {
    jobId: plain<JobId>(),
    position: plain<number>(),
    label: plain<string>(),
    audioKey: plain<string>(),
    contentType: plain<string>(),
    sizeBytes: plain<number>(),
    durationSeconds: named("duration_ms", seconds()),
  },
  ["jobId", "position"],
);
export type OutputRow = RowOf<typeof JOB_OUTPUTS>;

export function toOutput(row: OutputRow): JobOutput {
  const { jobId: _jobId, position: _position, ...output } = JOB_OUTPUTS.fromRow(row);
  return output;
}
