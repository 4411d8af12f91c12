import type { ManageAccounts } from "../accounts/manage-accounts.js";
import type { Tiers } from "../accounts/tiers.js";
import type { RecordsActions } from "../audit/audit-trail.js";
import type { Jobs } from "../jobs/create-jobs.js";
import type { SplitKind } from "../jobs/job.js";
import type { ReadTimelines } from "../jobs/read-timelines.js";
import { WatchJobs } from "../jobs/watch-jobs.js";
import type { CorePorts } from "../ports/core-ports.js";
import type { Providers } from "../providers/create-providers.js";
import { AcceptGeneration } from "./accept-generation.js";
import { AcceptSplit } from "./accept-split.js";
import { FollowJobs } from "./follow-jobs.js";
import { GenerationEvents } from "./generation-events.js";
import { Generations } from "./generations.js";
import { OperateGenerations } from "./operate-generations.js";
import { ReadGenerations } from "./read-generations.js";
import { RetryJobs } from "./retry-jobs.js";
import { StartSplit } from "./start-split.js";
import { WaitForJob } from "./wait-for-job.js";

export interface CreateGenerationsDeps {
  readonly ports: CorePorts;
  readonly audit: RecordsActions;
  readonly accounts: ManageAccounts;
  readonly tiers: Tiers;
  readonly jobs: Jobs;
  readonly providers: Providers;
  readonly idempotencyTtlMs: number;
  readonly splitCosts: Readonly<Record<SplitKind, number>>;
  readonly timelines: ReadTimelines;
  /** How many jobs one account may follow at once, in this process. */
  readonly followedMax: number;
}

export interface GenerationUseCases {
  /** For embedding apps. */
  readonly generations: Generations;
  readonly accept: AcceptGeneration;
  /** The same by an account's id, recorded in the audit log. */
  readonly operate: OperateGenerations;
  /** Failed jobs once more, for operators. */
  readonly retryJobs: RetryJobs;
  readonly read: ReadGenerations;
  readonly waitForJob: WaitForJob;
  readonly followJobs: FollowJobs;
  /** Stem splits and vocal removals, for operators and embedding apps. */
  readonly splits: StartSplit;
  /** The same for accounts, over the public API. */
  readonly acceptSplit: AcceptSplit;
  readonly events: GenerationEvents;
}

/** Requests for music and for the parts of a track; what became of them. */
export function createGenerations({
  ports,
  audit,
  accounts,
  tiers,
  jobs,
  providers,
  ...options
}: CreateGenerationsDeps): GenerationUseCases {
  const { acceptJobs, endedJobs } = jobs;
  const { idempotencyTtlMs, splitCosts: costs } = options;
  const accept = new AcceptGeneration({ ...ports, ...providers, acceptJobs, tiers, idempotencyTtlMs });
  const read = new ReadGenerations(ports);
  const watch = new WatchJobs({ ...ports, endedJobs });
  const waitForJob = new WaitForJob({ jobs: ports.jobs, watch, clock: ports.clock });
  const splits = new StartSplit({ ...ports, ...providers, acceptJobs, audit, tiers, costs });
  return {
    generations: new Generations({ accept, accounts, read, waitForJob }),
    accept,
    operate: new OperateGenerations({ acceptGeneration: accept, accounts, read, audit }),
    read,
    waitForJob,
    followJobs: new FollowJobs({ ...providers, ...options, read, watch }),
    splits,
    acceptSplit: new AcceptSplit({ ...ports, ...providers, acceptJobs, tiers, costs, idempotencyTtlMs }),
    retryJobs: new RetryJobs({ jobs: ports.jobs, tracer: ports.tracer, accept, accounts, splits, audit }),
    events: new GenerationEvents({ ...ports, read, endedJobs }),
  };
}
