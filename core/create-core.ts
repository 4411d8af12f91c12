import { AdminTokens } from "./admin/admin-tokens.js";
import { EraseAccounts } from "./accounts/erase-accounts.js";
import { ExportAccount } from "./accounts/export-account.js";
import { createAccounts } from "./accounts/create-accounts.js";
import type { Authenticate } from "./accounts/authenticate.js";
import type { RecordKeyUses } from "./accounts/record-key-uses.js";
import type { ManageAccounts } from "./accounts/manage-accounts.js";
import { Tiers } from "./accounts/tiers.js";
import { createAudit } from "./audit/create-audit.js";
import { unrecorded } from "./audit/unrecorded.js";
import type { ReadAudit } from "./audit/read-audit.js";
import type { CoreOptions } from "./core-options.js";
import { ArchiveLedger } from "./credits/archive-ledger.js";
import { VerifyLedger } from "./credits/verify-ledger.js";
import { ManageCredits } from "./credits/manage-credits.js";
import { createExecution } from "./execution/create-execution.js";
import type { ReportMargin } from "./attempts/report-margin.js";
import type { SubmissionSwitch } from "./execution/submission-switch.js";
import { sampleQueueAges } from "./figures/queue-ages.js";
import { ReadOverview } from "./figures/read-overview.js";
import { showFigures, type Slots } from "./figures/show-figures.js";
import type { WorkingProvider } from "./execution/working-provider.js";
import type { AcceptGeneration } from "./generations/accept-generation.js";
import type { AcceptSplit } from "./generations/accept-split.js";
import type { FollowJobs } from "./generations/follow-jobs.js";
import type { GenerationEvents } from "./generations/generation-events.js";
import type { Generations } from "./generations/generations.js";
import { createGenerations } from "./generations/create-generations.js";
import type { OperateGenerations } from "./generations/operate-generations.js";
import type { ReadGenerations } from "./generations/read-generations.js";
import type { RetryJobs } from "./generations/retry-jobs.js";
import type { StartSplit } from "./generations/start-split.js";
import type { WaitForJob } from "./generations/wait-for-job.js";
import { RecordResponse } from "./idempotency/record-response.js";
import { CancelOwnJob } from "./jobs/cancel-own-job.js";
import { createJobs } from "./jobs/create-jobs.js";
import { OperateJobs } from "./jobs/operate-jobs.js";
import { ReadTimelines } from "./jobs/read-timelines.js";
import type { AudioUrls } from "./library/audio-urls.js";
import { createLibrary, type Library } from "./library/create-library.js";
import type { PublicLinks } from "./library/public-links.js";
import type { ShareUrls } from "./library/share-urls.js";
import type { ReportStorage } from "./maintenance/report-storage.js";
import { createMaintenance } from "./maintenance/create-maintenance.js";
import type { OperateAudio } from "./maintenance/operate-audio.js";
import type { CorePorts } from "./ports/core-ports.js";
import { createProviders } from "./providers/create-providers.js";
import type { FindModels } from "./providers/find-models.js";
import type { ListModels } from "./providers/list-models.js";
import type { ReportProviders } from "./providers/report-providers.js";
import type { ReceiveCallback } from "./providers/receive-callback.js";
import { Limits } from "./rate-limits/limits.js";
import { createSecrets } from "./secrets/create-secrets.js";
import type { RotateSecrets } from "./secrets/rotate-secrets.js";
import { createUsage, type Usage } from "./usage/create-usage.js";
import { createWebhooks } from "./webhooks/create-webhooks.js";
import type { OperateWebhooks } from "./webhooks/operate-webhooks.js";
import { ReadEvents } from "./webhooks/read-events.js";
import { Workers } from "./workers.js";

/** The use cases. The API, the command line and embedding apps call the same ones. */
export interface Core {
  /** Accounts and their API keys: creates, finds, changes and suspends them. */
  readonly accounts: ManageAccounts;
  /** Everything that is kept of an account. */
  readonly exports: ExportAccount;
  /** Tokens of operators for the admin API. */
  readonly adminTokens: AdminTokens;
  /** What operators and this app did, in a chain of hashes. */
  readonly audit: ReadAudit;
  /** Balances; grants and renewals of credits. */
  readonly credits: ManageCredits;
  /** Takes old entries out of the ledger into files, and back in. */
  readonly ledgerArchives: ArchiveLedger;
  /** Creates, reads and waits for generations. */
  readonly generations: Generations;
  /** Creates them for an operator, recorded in the audit log. */
  readonly operateGenerations: OperateGenerations;
  /** Starts failed jobs once more, as new ones. */
  readonly retryJobs: RetryJobs;
  /** The providers with their circuit breakers, and what they have to do. */
  readonly providers: ReportProviders;
  /** How the installation is doing, in the last hour and day. */
  readonly overview: ReadOverview;
  /** Jobs of all kinds and accounts, as operators see and cancel them. */
  readonly jobs: OperateJobs;
  /** Stem splits and vocal removals. */
  readonly splits: StartSplit;
  /** Pauses and resumes the buying of new work, in all processes. */
  readonly submissions: SubmissionSwitch;
  /** The models that can be asked for, with what they cost and take. */
  readonly models: ListModels;
  /** What accounts paid and providers billed. */
  readonly margin: ReportMargin;
  /** Finds and deletes audio files that lost workers left behind. */
  readonly audio: Pick<OperateAudio, "collect">;
  /** How large the storage is, how fast it grows, and what of it is past its time. */
  readonly storage: ReportStorage;
  /** Notifies of generations and splits that ended, in whichever process. */
  readonly events: GenerationEvents;
  /** Tracks and playlists. */
  readonly library: Pick<Library, "read" | "manage" | "importer" | "operateUploads">;
  /** Signs links to stored audio. A link to a file of a track has to carry the track's `linkGeneration`. */
  readonly audioUrls: AudioUrls;
  /** Rotates the secret key. */
  readonly secrets: RotateSecrets;
  /** Addresses of the pages of shared tracks. */
  readonly shareUrls: ShareUrls;
  /** Webhook endpoints of accounts (`webhooks.endpoints`), and what is delivered to them. */
  readonly webhooks: OperateWebhooks;
  /** What only a server of the API needs. */
  readonly api: ApiUseCases;
  /** What works on the jobs of these providers and delivers webhooks in this process, once it is started. */
  createWorkers(providers: readonly WorkingProvider[]): Workers;
}

export interface ApiUseCases {
  /** Whose API key a request carries. */
  readonly authenticate: Authenticate;
  /** Writes when API keys were last used. */
  readonly keyUses: RecordKeyUses;
  /** Rate limits of accounts, and of addresses that fail to authenticate. */
  readonly limits: Limits;
  /** Creates generations under idempotency keys. */
  readonly acceptGeneration: AcceptGeneration;
  /** Splits tracks under idempotency keys. */
  readonly acceptSplit: AcceptSplit;
  /** Playlists and tracks that accounts keep, share and delete themselves. */
  readonly ownLibrary: Library["own"];
  /** The models that fit a filter, by pages. */
  readonly findModels: FindModels;
  /** Generations and jobs of an account, with all that is stored of them. */
  readonly readGenerations: ReadGenerations;
  /** Waits for the end of a job. */
  readonly waitForJob: WaitForJob;
  /** Lets an account cancel its own jobs. */
  readonly cancelJob: CancelOwnJob;
  /** Lets an account follow a job as it happens. */
  readonly followJobs: FollowJobs;
  /** Stores the response that an idempotency key replays. */
  readonly recordResponse: RecordResponse;
  /** Events of an account, as deliveries of webhooks carry them. */
  readonly readEvents: ReadEvents;
  /** Tracks that accounts upload themselves. */
  readonly uploadTrack: Library["upload"];
  /** What links without a key open: shared tracks, files of accounts that are not suspended. */
  readonly publicLinks: PublicLinks;
  /** What providers report to their callback addresses. */
  readonly receiveCallback: ReceiveCallback;
  /** Writes the log of requests. */
  readonly requests: Usage["requests"];
  /** Reads the log of requests, and sums it up. */
  readonly usage: Usage["read"];
}

/** How many jobs an account may follow at once where the options do not say. */
const FOLLOWED_JOBS_MAX = 20;

/** How often the watch of the ledger goes through all of it where the options do not say. */
const LEDGER_FULL_CHECK_MS = 24 * 3_600_000;

/** The pause between two looks of a maintenance task where the options do not say. */
const MAINTENANCE_EVERY_MS = 5_000;

/** Assembles the core. Nothing is read, written or started before a use case is called. */
export function createCore(ports: CorePorts, options: CoreOptions): Core {
  const { publicUrl, audio, idempotencyTtlMs, splitCosts } = options;
  const { queueDeadlineMs, sweepMs } = options.jobs;
  const { trail: audit, read: readAudit } = createAudit(ports, options);
  const tiers = new Tiers(options.tiers);
  const adminTokens = new AdminTokens({ ...ports, audit, givenToken: options.adminToken ?? null });
  const { accounts, authenticate, uses } = createAccounts({ ports, audit, tiers });
  const secrets = createSecrets(ports, audit);
  const library = createLibrary({ ports, audit, tiers, publicUrl, audio, uploads: options.uploads });
  const { audioUrls, shareUrls, publicLinks } = library;
  const sealing = { sealKeys: secrets.keyStates, audioUrls };
  const webhooks = createWebhooks({ ports, options: options.webhooks, audit, ...sealing, sweepMs });
  const providers = createProviders({ ports, ...options, queueDeadlineMs });
  const jobs = createJobs(ports, webhooks.writeEvents);
  const working = { settleJobs: jobs.settleJobs, providers, audioUrls, derived: library.derived };
  const execution = createExecution({ ports, options: options.jobs, maxBytes: audio.maxBytes, audit, ...working });
  const { endJobs, submissions, margin } = execution;
  const timelines = new ReadTimelines({ ...ports, outlooks: providers.outlooks });
  const shared = { ports, audit, accounts, tiers, jobs, providers, timelines };
  const generations = createGenerations({
    ...shared,
    idempotencyTtlMs,
    splitCosts,
    followedMax: options.followedJobsPerAccount ?? FOLLOWED_JOBS_MAX,
  });
  const erasure = new EraseAccounts({ ...ports, endJobs });
  const usage = createUsage(ports, options.redact);
  const { metrics } = ports;
  const figures = { ...ports, breaker: options.breaker, catalogue: providers.catalogue };
  const others = [secrets.reseal, erasure.task(), library.deletedFiles.task(), sampleQueueAges(figures)];
  const { retention, webhooks: delivering } = options;
  const scheduled = { endJobs, queueDeadlineMs, retention, scheduleMs: delivering.scheduleMs };
  const ledgerFullCheckMs = options.ledger?.fullCheckMs ?? LEDGER_FULL_CHECK_MS;
  const everyMs = options.maintenance?.everyMs ?? MAINTENANCE_EVERY_MS;
  const tasks = { ...scheduled, ledgerFullCheckMs, everyMs, others };
  const { audio: operateAudio, storage, maintenance } = createMaintenance({ ports, audit, ...tasks });
  const operating = { ...ports, ...generations, timelines, endJobs };
  let workers: Workers | null = null;
  const slots = (): readonly Slots[] => workers?.slots ?? [];
  if (metrics !== null) showFigures({ ...figures, metrics, slots });
  return {
    accounts,
    adminTokens,
    exports: new ExportAccount({ ...ports, audit }),
    audit: readAudit,
    credits: new ManageCredits({ ...ports, audit, tiers }),
    ledgerArchives: new ArchiveLedger({ ...ports, audit, verifier: new VerifyLedger(ports) }),
    generations: generations.generations,
    operateGenerations: generations.operate,
    jobs: new OperateJobs({ ...operating, audit }),
    retryJobs: generations.retryJobs,
    providers: providers.report,
    overview: new ReadOverview({ ...ports, providers: providers.report }),
    splits: generations.splits,
    submissions,
    models: providers.models,
    margin,
    audio: operateAudio,
    storage,
    events: generations.events,
    library,
    audioUrls,
    secrets: secrets.rotate,
    shareUrls,
    webhooks: webhooks.operate,
    api: {
      authenticate,
      keyUses: uses,
      limits: new Limits({ limiter: ports.rateLimiter, tiers, authFailuresPerMinute: options.authFailuresPerMinute }),
      acceptGeneration: generations.accept,
      acceptSplit: generations.acceptSplit,
      ownLibrary: library.own,
      findModels: providers.findModels,
      readGenerations: generations.read,
      waitForJob: generations.waitForJob,
      cancelJob: new CancelOwnJob({
        ...generations,
        operate: new OperateJobs({ ...operating, audit: unrecorded(ports.unitOfWork) }),
      }),
      followJobs: generations.followJobs,
      recordResponse: new RecordResponse({
        unitOfWork: ports.unitOfWork,
        idempotency: ports.idempotency,
        digest: ports.digest,
      }),
      readEvents: new ReadEvents(ports),
      uploadTrack: library.upload,
      publicLinks,
      receiveCallback: providers.receiveCallback,
      requests: usage.requests,
      usage: usage.read,
    },
    createWorkers: (working) =>
      (workers = new Workers({
        jobs: execution.createWorkers(working, maintenance),
        deliveries: webhooks.createDeliveries(),
        endedJobs: jobs.endedJobs,
      })),
  };
}
