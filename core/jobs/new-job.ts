import type { AccountId, JobId, RequestId } from "../ids.js";
import type { AcceptCommand } from "./decide-acceptance.js";
import type { JobKind, JobRequest, JobState } from "./job.js";

export interface NewJob {
  readonly id: JobId;
  readonly accountId: AccountId;
  readonly kind: JobKind;
  readonly modelId: string;
  readonly request: JobRequest;
  /** Who does it; null: no provider, and the job is refused for it. */
  readonly route: Pick<JobState, "providerId" | "servedModelId" | "operation"> | null;
  readonly reference: string | null;
  readonly requestId: RequestId | null;
  readonly requestedAt: number | null;
  readonly createdAt: number;
}

/** A job that waits for its first worker. */
export function newJob({ route, createdAt, ...given }: NewJob): AcceptCommand["job"] {
  return {
    ...given,
    operation: route?.operation ?? "",
    providerId: route?.providerId ?? "",
    servedModelId: route?.servedModelId ?? null,
    status: "queued",
    phase: "waiting",
    attempt: 0,
    refusals: 0,
    crashes: 0,
    collectionsBegun: 0,
    fence: 0,
    leaseOwner: null,
    dueAt: createdAt,
    error: null,
    createdAt,
    completedAt: null,
    endedBy: null,
  };
}
