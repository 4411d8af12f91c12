import type { JobRequest, JobState } from "../jobs/job.js";
import type { ProviderCost } from "../ports/music-provider.js";
import type { Random } from "../ports/random.js";
import type { Catalogue } from "../providers/catalogue.js";
import type { ExecutionPolicy } from "./policy.js";

export interface PolicySettings extends Pick<
  ExecutionPolicy,
  "retry" | "queueDeadlineMs" | "unknownGraceMs" | "confirmMs"
> {
  /** For models without a render deadline of their own. */
  readonly renderDeadlineMs: number;
}

export interface PoliciesDeps {
  readonly settings: PolicySettings;
  readonly catalogue: Catalogue;
  readonly random: Random;
}
/** The provider and model that serve a job. */
type ServedJob = Pick<JobState, "kind" | "providerId" | "servedModelId">;
type AskedUse = Pick<JobRequest, "sourceUse">;

/**
 * Builds the policy for each job from the settings and its provider's declarations. It is the same in every process.
 */
export class Policies {
  constructor(private readonly deps: PoliciesDeps) {}

  /**
   * @param request the caller's request; may be null unless {@link dependsOnRequest}: the expected cost then ignores
   *   the mode
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
    const { retry, queueDeadlineMs, renderDeadlineMs, unknownGraceMs, confirmMs } = this.deps.settings;
    return {
      retry,
      queueDeadlineMs,
      renderDeadlineMs: renderDeadlineMinutes === undefined ? renderDeadlineMs : renderDeadlineMinutes * 60_000,
      unknownGraceMs,
      confirmMs,
      capabilities: { idempotentSubmit, lookup, lookupSettlesMs, cancel, callbacks },
      expectedCost: this.expectedCost(job, request),
      fraction: this.deps.random.fraction(),
    };
  }

  /** Whether the expected cost depends on how the job uses a track. */
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
