/** All that a team embedding the core imports of it: use cases, domain types, the error catalogue and the ports. */
export type { Account, ApiKey } from "./ports/account.js";
export type { ShownKey } from "./accounts/shown-key.js";
export type { EnsuredAccount, IssuedKey, ManageAccounts, NewAccount } from "./accounts/manage-accounts.js";
export type { NewKey } from "./accounts/new-key.js";
export type { ExportAccount, ExportedRecord } from "./accounts/export-account.js";
export type { Overview, ReadOverview } from "./figures/read-overview.js";
export type { ActivitySeries } from "./figures/recent-activity.js";
export type { Actor } from "./audit/audit-trail.js";
export type { AdminTokens, NewAdminToken, Operator, ShownAdminToken } from "./admin/admin-tokens.js";
export type { AuditAction, AuditEntry, AuditFields, AuditHead, AuditRecord } from "./ports/audit-record.js";
export type { AuditVerification, ReadAudit } from "./audit/read-audit.js";
export type { MarginQuery, MarginReport, ReportMargin } from "./attempts/report-margin.js";
export type { Submissions, SubmissionState, SubmissionSwitch } from "./execution/submission-switch.js";
export { type Scope, SCOPES } from "./ports/scopes.js";
export type { Tier, UploadQuota } from "./accounts/tiers.js";
export {
  available,
  type Balance,
  type Buckets,
  type EntryDraft,
  type EntryKind,
  type LedgerEntry,
  type Movement,
} from "./credits/balance.js";
export type { Bucket } from "./credits/grant.js";
export type { GrantOptions, ManageCredits, Renewal, RenewOptions } from "./credits/manage-credits.js";
export * from "./error-codes.js";
export * from "./errors.js";
export type { EventOptions, EventSubscription, GenerationEvents } from "./generations/generation-events.js";
export type { EventListener, EventName, GenerationEvent } from "./generations/listening.js";
export type {
  CreatedGeneration,
  CreateOptions,
  Generation,
  Generations,
  WaitOptions,
} from "./generations/generations.js";
export type { JobWithTracks, ReadGenerations } from "./generations/read-generations.js";
export type { GenerationInput } from "./generations/request-rules.js";
export type * from "./ids.js";
export type {
  AttemptLoss,
  AttemptProgress,
  AttemptState,
  Job,
  JobAttempt,
  JobError,
  JobKind,
  JobOutput,
  JobPhase,
  JobRequest,
  JobState,
  JobStatus,
  JobSummary,
  RequestSummary,
  SourceUse,
  StoredFiles,
} from "./jobs/job.js";
export type { JobTimeline } from "./jobs/read-timelines.js";
export type { ShownAttempt, ShownJob } from "./jobs/shown-job.js";
export type { TimelineEvent, TimelineFact } from "./jobs/timeline.js";
export type { JobOutlook } from "./providers/outlook.js";
export type { ShownEndpoint } from "./webhooks/shown-endpoint.js";
export type { Cancellation, CancelOptions, JobReport, OperateJobs } from "./jobs/operate-jobs.js";
export type { SplitOptions, SplitRequest, StartedSplit, StartSplit } from "./generations/start-split.js";
export { type ImportedLibrary, ImportRefusedError } from "./library/import-library.js";
export type { Lyrics, NewTrack, TrackWithLyrics } from "./library/lyrics.js";
export type { ManageLibrary, NewPlaylist, OnBehalf } from "./library/manage-library.js";
export type { ImportIssue } from "./library/members-reader.js";
export type { Playlist } from "./library/playlist.js";
export type { PlaylistChanges } from "./library/playlist-rules.js";
export type { FoundInLibrary, PlaylistWithTracks, ReadLibrary } from "./library/read-library.js";
export type { LibrarySearch, SearchPosition } from "./library/search.js";
export type { SearchInput } from "./library/search-rules.js";
export type { PageRequest } from "./lists/pages.js";
export type { ShareUrls } from "./library/share-urls.js";
export type { ShownAsset, ShownTrack, Track, TrackAsset, TrackOrigin } from "./library/track.js";
export type { TrackUpload, UploadTrack } from "./library/upload-track.js";
export type { DueDeletion, ReportStorage, StorageReport, TableGrowth } from "./maintenance/report-storage.js";
export type { Retention, RetentionRule } from "./maintenance/retention.js";
export type { ProviderReport, ReportProviders } from "./providers/report-providers.js";
export type { RetriedJob, RetryJobs } from "./generations/retry-jobs.js";
export type { FindModels, ModelFilter } from "./providers/find-models.js";
export type { ListedModel, ListModels } from "./providers/list-models.js";
export type { PriceBounds } from "./providers/prices.js";

/** The core on ports of one's own. */
export { type ApiUseCases, type Core, createCore } from "./create-core.js";
export type { CoreOptions } from "./core-options.js";
export type { WorkingProvider } from "./execution/working-provider.js";
export type { Workers } from "./workers.js";

/** Every port, with its types, and the errors that adapters throw. */
export type * from "./ports/account-store.js";
export type * from "./ports/activity-store.js";
export * from "./ports/adapter.js";
export type * from "./ports/admin-token-store.js";
export { ADMIN_ROLES, type AdminRole, type AdminToken } from "./ports/admin-token.js";
export type * from "./ports/address-guard.js";
export type * from "./ports/asset-opener.js";
export type * from "./ports/audio-analyser.js";
export type * from "./ports/audio-store.js";
export type * from "./ports/audit-log.js";
export type * from "./ports/callback-store.js";
export type * from "./ports/clock.js";
export type * from "./ports/core-ports.js";
export type * from "./ports/cover-painter.js";
export type * from "./ports/declared-settings.js";
export * from "./ports/erasure-store.js";
export * from "./ports/growth-store.js";
export type * from "./ports/digest.js";
export type * from "./ports/host-database.js";
export type * from "./ports/id-generator.js";
export type * from "./ports/idempotency-store.js";
export type * from "./ports/import-files.js";
export type * from "./ports/installation-store.js";
export type * from "./ports/job-queue.js";
export type * from "./ports/job-claims.js";
export type * from "./ports/job-store.js";
export type * from "./ports/keyring.js";
export type * from "./ports/lease-renewal.js";
export type * from "./ports/ledger-archives.js";
export type * from "./ports/ledger-store.js";
export type * from "./ports/library-store.js";
export type * from "./ports/list-page.js";
export type * from "./ports/logger.js";
export type * from "./ports/metrics.js";
export type * from "./ports/music-provider.js";
export type * from "./ports/opened-storage.js";
export type * from "./ports/provider-health-store.js";
export type * from "./ports/random.js";
export type * from "./ports/rate-count-store.js";
export type * from "./ports/rate-limiter.js";
export type * from "./ports/request-log.js";
export type * from "./ports/request-log-store.js";
export type * from "./ports/secret-box.js";
export type * from "./ports/secret-keys.js";
export * from "./ports/self-check.js";
export type * from "./ports/stores.js";
export type * from "./ports/tracer.js";
export type * from "./ports/unit-of-work.js";
export type * from "./ports/upload-store.js";
export type * from "./ports/webhook-records.js";
export type * from "./ports/webhook-sender.js";
export type * from "./ports/webhook-store.js";
/** What the port of providers calls a split; that of the use case has its name. */
export type { SplitRequest as ProviderSplitRequest } from "./ports/music-provider.js";
export { AudioUnreadableError } from "./ports/audio-analyser.js";
export { AudioTooLargeError, isAudioKey } from "./ports/audio-store.js";
export { ImportFileError } from "./ports/import-files.js";
export { NO_KEY_ID } from "./ports/keyring.js";
export { ProviderFailure } from "./ports/music-provider.js";
export { WEBHOOK_FAILURES } from "./ports/webhook-sender.js";
