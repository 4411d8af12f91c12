import type { ServiceIdentifier } from "inversify";
import type { HttpParts } from "../adapters/http/index.js";
import type { PrometheusMetrics } from "../adapters/observability/metrics.js";
import type { Authenticate } from "../core/accounts/authenticate.js";
import type { ManageAccounts } from "../core/accounts/manage-accounts.js";
import type { Tiers } from "../core/accounts/tiers.js";
import type { AuditTrail } from "../core/audit/audit-trail.js";
import type { ReadAudit } from "../core/audit/read-audit.js";
import type { ManageCredits } from "../core/credits/manage-credits.js";
import type { AcceptGeneration } from "../core/generations/accept-generation.js";
import type { ReadGenerations } from "../core/generations/read-generations.js";
import type { WaitForJob } from "../core/generations/wait-for-job.js";
import type { CallbackUrls } from "../core/providers/callback-urls.js";
import type { ReceiveCallback } from "../core/providers/receive-callback.js";
import type { RecordAnswer } from "../core/idempotency/record-answer.js";
import type { ProcessId } from "../core/ids.js";
import type { AcceptJobs } from "../core/jobs/accept-jobs.js";
import type { BuildRequest } from "../core/execution/build-request.js";
import type { CancelUpstream } from "../core/execution/cancel-upstream.js";
import type { CollectAudio } from "../core/maintenance/collect-audio.js";
import type { Maintenance } from "../core/maintenance/maintenance.js";
import type { JobEvents } from "../core/jobs/job-events.js";
import type { OperateJobs } from "../core/jobs/operate-jobs.js";
import type { ProviderAvailability } from "../core/providers/provider-availability.js";
import type { Routes } from "../core/providers/routes.js";
import type { ApplyReports } from "../core/execution/apply-reports.js";
import type { EndJobs } from "../core/execution/end-jobs.js";
import type { Policies } from "../core/execution/policies.js";
import type { Backlog } from "../core/providers/backlog.js";
import type { RenderTimes } from "../core/providers/render-times.js";
import type { StoreFiles } from "../core/execution/store-files.js";
import type { RunJob } from "../core/execution/run-job.js";
import type { SubmissionSwitch } from "../core/execution/submission-switch.js";
import type { SettleJobs } from "../core/jobs/settle-jobs.js";
import type { StartSplit } from "../core/generations/start-split.js";
import type { StoreAsset } from "../core/execution/store-asset.js";
import type { StoreTracks } from "../core/execution/store-tracks.js";
import type { AudioUrls } from "../core/library/audio-urls.js";
import type { DeriveAssets } from "../core/library/derive-assets.js";
import type { ImportLibrary } from "../core/library/import-library.js";
import type { ManageLibrary } from "../core/library/manage-library.js";
import type { PublicLinks } from "../core/library/public-links.js";
import type { ReadLibrary } from "../core/library/read-library.js";
import type { ShareUrls } from "../core/library/share-urls.js";
import type { UploadTrack } from "../core/library/upload-track.js";
import type { Catalogue } from "../core/providers/catalogue.js";
import type { ListModels } from "../core/providers/list-models.js";
import type { AccountStore } from "../core/ports/account-store.js";
import type { AuditLog } from "../core/ports/audit-log.js";
import type { AudioAnalyser } from "../core/ports/audio-analyser.js";
import type { OpenSandbox } from "../core/ports/music-provider.js";
import type { AssetOpener } from "../core/ports/asset-opener.js";
import type { AudioStore } from "../core/ports/audio-store.js";
import type { CallbackStore } from "../core/ports/callback-store.js";
import type { Clock } from "../core/ports/clock.js";
import type { CoverPainter } from "../core/ports/cover-painter.js";
import type { Digest } from "../core/ports/digest.js";
import type { IdempotencyStore } from "../core/ports/idempotency-store.js";
import type { IdGenerator } from "../core/ports/id-generator.js";
import type { InstallationStore } from "../core/ports/installation-store.js";
import type { JobQueue } from "../core/ports/job-queue.js";
import type { JobStore } from "../core/ports/job-store.js";
import type { LeaseRenewal } from "../core/ports/lease-renewal.js";
import type { LedgerStore } from "../core/ports/ledger-store.js";
import type { LibraryStore } from "../core/ports/library-store.js";
import type { Logger } from "../core/ports/logger.js";
import type { ProviderHealthStore } from "../core/ports/provider-health-store.js";
import type { Random } from "../core/ports/random.js";
import type { RateCountStore } from "../core/ports/rate-count-store.js";
import type { RateLimiter } from "../core/ports/rate-limiter.js";
import type { UnitOfWork } from "../core/ports/unit-of-work.js";
import type { Limits } from "../core/rate-limits/limits.js";
import type { AddressGuard } from "../core/ports/address-guard.js";
import type { RequestLogStore } from "../core/ports/request-log-store.js";
import type { Keyring } from "../core/ports/keyring.js";
import type { SecretBox } from "../core/ports/secret-box.js";
import type { KeyStates } from "../core/secrets/key-states.js";
import type { ResealSecrets } from "../core/secrets/reseal.js";
import type { RotateSecrets } from "../core/secrets/rotate-secrets.js";
import type { WebhookSender } from "../core/ports/webhook-sender.js";
import type { UploadStore } from "../core/ports/upload-store.js";
import type { WebhookStore } from "../core/ports/webhook-store.js";
import type { ReadUsage } from "../core/usage/read-usage.js";
import type { RecordRequests } from "../core/usage/record-requests.js";
import type { DeliverWebhooks } from "../core/webhooks/deliver-webhooks.js";
import type { ManageEndpoints } from "../core/webhooks/manage-endpoints.js";
import type { OperateWebhooks } from "../core/webhooks/operate-webhooks.js";
import type { RecordTry } from "../core/webhooks/record-try.js";
import type { SendDelivery } from "../core/webhooks/send-delivery.js";
import type { WriteEvents } from "../core/webhooks/write-events.js";
import type { Settings } from "./settings.js";

function token<T>(name: string): ServiceIdentifier<T> {
  return Symbol(name);
}

/** What callers reach this server by; the listen address until config names another. */
export interface PublicUrl {
  readonly current: string;
}

/** The figures of this process; null where config wants none. */
export interface MetricsHolder {
  readonly current: PrometheusMetrics | null;
}

/** One token per port and use case. */
export const TOKENS = {
  settings: token<Settings>("Settings"),
  publicUrl: token<PublicUrl>("PublicUrl"),
  httpParts: token<HttpParts>("HttpParts"),
  keyring: token<Keyring>("Keyring"),
  keyStates: token<KeyStates>("KeyStates"),
  resealSecrets: token<ResealSecrets>("ResealSecrets"),
  rotateSecrets: token<RotateSecrets>("RotateSecrets"),

  clock: token<Clock>("Clock"),
  ids: token<IdGenerator>("IdGenerator"),
  random: token<Random>("Random"),
  digest: token<Digest>("Digest"),
  logger: token<Logger>("Logger"),
  unitOfWork: token<UnitOfWork>("UnitOfWork"),
  accounts: token<AccountStore>("AccountStore"),
  auditLog: token<AuditLog>("AuditLog"),
  ledger: token<LedgerStore>("LedgerStore"),
  idempotency: token<IdempotencyStore>("IdempotencyStore"),
  jobs: token<JobStore>("JobStore"),
  callbacks: token<CallbackStore>("CallbackStore"),
  library: token<LibraryStore>("LibraryStore"),
  health: token<ProviderHealthStore>("ProviderHealthStore"),
  rateCounts: token<RateCountStore>("RateCountStore"),
  uploads: token<UploadStore>("UploadStore"),
  webhooks: token<WebhookStore>("WebhookStore"),
  webhookSender: token<WebhookSender>("WebhookSender"),
  addressGuard: token<AddressGuard>("AddressGuard"),
  secretBox: token<SecretBox>("SecretBox"),
  requestLog: token<RequestLogStore>("RequestLogStore"),
  installation: token<InstallationStore>("InstallationStore"),
  metrics: token<MetricsHolder>("Metrics"),
  queue: token<JobQueue>("JobQueue"),
  audio: token<AudioStore>("AudioStore"),
  assetOpener: token<AssetOpener>("AssetOpener"),
  audioAnalyser: token<AudioAnalyser>("AudioAnalyser"),
  openSandbox: token<OpenSandbox>("OpenSandbox"),
  coverPainter: token<CoverPainter>("CoverPainter"),
  rateLimiter: token<RateLimiter>("RateLimiter"),

  tiers: token<Tiers>("Tiers"),
  catalogue: token<Catalogue>("Catalogue"),
  limits: token<Limits>("Limits"),
  audioUrls: token<AudioUrls>("AudioUrls"),
  authenticate: token<Authenticate>("Authenticate"),
  audit: token<AuditTrail>("AuditTrail"),
  readAudit: token<ReadAudit>("ReadAudit"),
  manageAccounts: token<ManageAccounts>("ManageAccounts"),
  manageCredits: token<ManageCredits>("ManageCredits"),
  availability: token<ProviderAvailability>("ProviderAvailability"),
  listModels: token<ListModels>("ListModels"),
  jobEvents: token<JobEvents>("JobEvents"),
  acceptJobs: token<AcceptJobs>("AcceptJobs"),
  settleJobs: token<SettleJobs>("SettleJobs"),
  applyReports: token<ApplyReports>("ApplyReports"),
  policies: token<Policies>("Policies"),
  renderTimes: token<RenderTimes>("RenderTimes"),
  backlog: token<Backlog>("Backlog"),
  endJobs: token<EndJobs>("EndJobs"),
  storeFiles: token<StoreFiles>("StoreFiles"),
  acceptGeneration: token<AcceptGeneration>("AcceptGeneration"),
  readGenerations: token<ReadGenerations>("ReadGenerations"),
  waitForJob: token<WaitForJob>("WaitForJob"),
  recordAnswer: token<RecordAnswer>("RecordAnswer"),
  deriveAssets: token<DeriveAssets>("DeriveAssets"),
  routes: token<Routes>("Routes"),
  callbackUrls: token<CallbackUrls>("CallbackUrls"),
  receiveCallback: token<ReceiveCallback>("ReceiveCallback"),
  buildRequest: token<BuildRequest>("BuildRequest"),
  storeAsset: token<StoreAsset>("StoreAsset"),
  cancelUpstream: token<CancelUpstream>("CancelUpstream"),
  submissions: token<SubmissionSwitch>("SubmissionSwitch"),
  startSplit: token<StartSplit>("StartSplit"),
  storeTracks: token<StoreTracks>("StoreTracks"),
  runJob: token<RunJob>("RunJob"),
  /** For the leases of one process. */
  leaseRenewal: token<(owner: ProcessId, leaseMs: number) => LeaseRenewal>("LeaseRenewal"),
  collectAudio: token<CollectAudio>("CollectAudio"),
  maintenance: token<Maintenance>("Maintenance"),
  operateJobs: token<OperateJobs>("OperateJobs"),
  recordRequests: token<RecordRequests>("RecordRequests"),
  readUsage: token<ReadUsage>("ReadUsage"),
  readLibrary: token<ReadLibrary>("ReadLibrary"),
  manageLibrary: token<ManageLibrary>("ManageLibrary"),
  importLibrary: token<ImportLibrary>("ImportLibrary"),
  /** By an account itself. */
  uploadTrack: token<UploadTrack>("UploadTrack"),
  /** By an operator or an embedding app, and recorded. */
  operateUploads: token<UploadTrack>("OperateUploads"),
  publicLinks: token<PublicLinks>("PublicLinks"),
  shareUrls: token<ShareUrls>("ShareUrls"),
  writeEvents: token<WriteEvents>("WriteEvents"),
  manageEndpoints: token<ManageEndpoints>("ManageEndpoints"),
  operateWebhooks: token<OperateWebhooks>("OperateWebhooks"),
  sendDelivery: token<SendDelivery>("SendDelivery"),
  recordTry: token<RecordTry>("RecordTry"),
  deliverWebhooks: token<DeliverWebhooks>("DeliverWebhooks"),
} as const;
