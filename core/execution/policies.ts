import type { JobState } from "../jobs/job.js";
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

/** What decisions about each job go by: settings, and what its provider declares. The same in every process. */
export class Policies {
  constructor(
    private readonly settings: PolicySettings,
    private readonly catalogue: Catalogue,
    private readonly random: Random,
  ) {}

  of(job: Pick<JobState, "kind" | "providerId" | "servedModelId">): ExecutionPolicy {
    const {
      idempotentSubmit = false,
      lookup = false,
      lookupSettlesMs = 0,
      cancel = false,
      callbacks = "none",
    } = this.catalogue.providers.find(({ id }) => id === job.providerId) ?? {};
    const { renderDeadlineMinutes } = this.modelOf(job) ?? {};
    return {
      ...this.settings,
      ...(renderDeadlineMinutes === undefined ? {} : { renderDeadlineMs: renderDeadlineMinutes * 60_000 }),
      capabilities: { idempotentSubmit, lookup, lookupSettlesMs, cancel, callbacks },
      expectedCost: this.expectedCost(job),
      fraction: this.random.fraction(),
    };
  }

  private modelOf({ servedModelId }: Pick<JobState, "servedModelId">): ReturnType<Catalogue["find"]> {
    return servedModelId === null ? null : this.catalogue.find(servedModelId);
  }

  private expectedCost(job: Pick<JobState, "kind" | "providerId" | "servedModelId">): ProviderCost | null {
    if (job.kind === "music") return this.modelOf(job)?.upstreamCost ?? null;
    const provider = this.catalogue.providers.find(({ id }) => id === job.providerId);
    const capability = job.kind === "stem_split" ? provider?.stemSplit : provider?.vocalRemoval;
    return capability?.upstreamCost ?? null;
  }
}
