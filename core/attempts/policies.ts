import type { JobRequest, JobState } from "../jobs/job.js";
import type { ProviderCost } from "../ports/music-provider.js";
import type { Random } from "../ports/random.js";
import type { Catalogue } from "../providers/catalogue.js";
import type { ExecutionPolicy } from "./policy.js";

export interface PolicySettings extends Pick<
  ExecutionPolicy,
  "retry" | "queueDeadlineMs" | "unknownGraceMs" | "confirmMs"
> {
  /** Where a model has no render deadline of its own. */
  readonly renderDeadlineMs: number;
}

export interface PoliciesDeps {
  readonly settings: PolicySettings;
  readonly catalogue: Catalogue;
  readonly random: Random;
}
/** Who does a job. */
type ServedJob = Pick<JobState, "kind" | "providerId" | "servedModelId">;
type AskedUse = Pick<JobRequest, "sourceUse">;

/** What decisions about each job go by: settings, and what its provider declares. The same in every process. */
export class Policies {
  constructor(private readonly deps: PoliciesDeps) {}

  /**
   * @param request what was asked for; null will do unless {@link dependsOnRequest}, and then leaves the mode out of
   *   what the job is expected to cost
   */
  of(job: ServedJob, request: AskedUse | null = null): ExecutionPolicy {
    const {
      idempotentSubmit = false,
      lookup = false,
      lookupSettlesMs = 0,
      cancel = false,
      callbacks = "none",
    } = this.deps.catalogue.providers.find(({ id }) => id === job.providerId) ?? {};
    const { renderDeadlineMinutes } = this.modelOf(job) ?? {};
    return {
      ...this.deps.settings,
      ...(renderDeadlineMinutes === undefined ? {} : { renderDeadlineMs: renderDeadlineMinutes * 60_000 }),
      capabilities: { idempotentSubmit, lookup, lookupSettlesMs, cancel, callbacks },
      expectedCost: this.expectedCost(job, request),
      fraction: this.deps.random.fraction(),
    };
  }

  /** Whether what the job is expected to cost depends on how it uses a track. */
  dependsOnRequest(job: ServedJob): boolean {
    const modes = job.kind === "music" ? Object.values(this.modelOf(job)?.references ?? {}) : [];
    return modes.some(({ upstreamCost }) => upstreamCost !== undefined);
  }

  private modelOf({ servedModelId }: Pick<JobState, "servedModelId">): ReturnType<Catalogue["find"]> {
    return servedModelId === null ? null : this.deps.catalogue.find(servedModelId);
  }

  private expectedCost(job: ServedJob, request: AskedUse | null): ProviderCost | null {
    if (job.kind === "music") {
      const model = this.modelOf(job);
      const use = request?.sourceUse ?? null;
      const mode = use === null ? undefined : model?.references?.[use.mode];
      return mode?.upstreamCost ?? model?.upstreamCost ?? null;
    }
    const provider = this.deps.catalogue.providers.find(({ id }) => id === job.providerId);
    const capability = job.kind === "stem_split" ? provider?.stemSplit : provider?.vocalRemoval;
    return capability?.upstreamCost ?? null;
  }
}
