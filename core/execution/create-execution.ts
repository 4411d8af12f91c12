import type { RecordsActions } from "../audit/audit-trail.js";
import type { SettleJobs } from "../jobs/settle-jobs.js";
import type { AudioUrls } from "../library/audio-urls.js";
import type { DeriveAssets } from "../library/derive-assets.js";
import type { CorePorts } from "../ports/core-ports.js";
import type { Providers } from "../providers/create-providers.js";
import { ApplyReports } from "../attempts/apply-reports.js";
import { BuildRequest } from "./build-request.js";
import { CancelUpstream } from "./cancel-upstream.js";
import { EndJobs } from "../attempts/end-jobs.js";
import { Leases } from "../leases/leases.js";
import { Policies, type PolicySettings } from "../attempts/policies.js";
import { ReportMargin } from "../attempts/report-margin.js";
import { RunJob } from "./run-job.js";
import { StoreAsset } from "../results/store-asset.js";
import { StoreFiles } from "../results/store-files.js";
import { StoreTracks } from "../results/store-tracks.js";
import { type SubmissionState, SubmissionSwitch } from "./submission-switch.js";
import { WorkJobs, type WorkJobsDeps } from "./work-jobs.js";
import type { WorkingProvider } from "./working-provider.js";

export interface ExecutionOptions extends PolicySettings {
  readonly leaseMs: number;
  readonly sweepMs: number;
  readonly submissions: SubmissionState;
}

export interface ExecutionDeps {
  readonly ports: CorePorts;
  readonly options: ExecutionOptions;
  /** Of one stored file. */
  readonly maxBytes: number;
  readonly audit: RecordsActions;
  readonly settleJobs: SettleJobs;
  readonly providers: Providers;
  readonly audioUrls: AudioUrls;
  readonly derived: Pick<DeriveAssets, "deriveFor" | "decodes">;
}

export interface Execution {
  readonly applyReports: ApplyReports;
  readonly endJobs: EndJobs;
  /** Pauses and resumes the buying of new work, in all processes. */
  readonly submissions: SubmissionSwitch;
  /** What accounts paid and providers billed. */
  readonly margin: ReportMargin;
  /** Works on the jobs of these providers once it is started. */
  readonly createWorkers: (providers: readonly WorkingProvider[], maintenance: WorkJobsDeps["maintenance"]) => WorkJobs;
}

/** Assembles the use cases between the acceptance of a job and its end. */
export function createExecution({ ports, options, settleJobs, audit, maxBytes, ...deps }: ExecutionDeps): Execution {
  const { clock, ids, logger, tracer, audio, assetOpener, jobs, random, renewLeases } = ports;
  const { routes, availability, renderTimes, catalogue, callbackUrls } = deps.providers;
  const { audioUrls, derived } = deps;
  const applyReports = new ApplyReports({ ...ports, settleJobs });
  const policies = new Policies({ settings: options, catalogue, random });
  const storeAsset = new StoreAsset({ audio, opener: assetOpener, maxBytes, tracer });
  const storeFiles = new StoreFiles({
    ...ports,
    storeTracks: new StoreTracks({ audio, clock, ids, storeAsset, derived }),
  });
  const buildRequest = new BuildRequest({ ...ports, catalogue, audioUrls, callbackUrls });
  const submissions = new SubmissionSwitch({ ...ports, audit, startsAs: options.submissions });
  const step = { applyReports, storeFiles, buildRequest, routes, availability, policies, renderTimes, derived };
  const runJob = new RunJob({ ...ports, ...step });
  const endJobs = new EndJobs({ ...ports, applyReports, policies });
  const cancelUpstream = new CancelUpstream({ ...ports, endJobs });
  return {
    applyReports,
    endJobs,
    submissions,
    margin: new ReportMargin({ jobs }),
    createWorkers: (providers, maintenance) => {
      const [owner, { leaseMs, sweepMs }] = [ids.next("prc"), options];
      const leases = new Leases({ owner, leaseMs, renewal: renewLeases(owner, leaseMs), logger });
      const hasFallbacks = (providerId: string): boolean => routes.hasFallbacks(providerId);
      const working = { leases, runJob, cancelUpstream, hasFallbacks, availability, submissions, sweepMs, maintenance };
      return new WorkJobs({ ...ports, ...working, providers });
    },
  };
}
