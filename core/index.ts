/** All that a team embedding the core imports of it: use cases, domain types, the error catalogue and the ports. */
export type { Account, ApiKey } from "./accounts/account.js";
export type { IssuedKey, ManageAccounts, NewAccount, NewKey } from "./accounts/manage-accounts.js";
export type { AuditAction, AuditRecord } from "./audit/audit-record.js";
export type { AuditVerification, ReadAudit } from "./audit/read-audit.js";
export type { MarginQuery, MarginReport, ReportMargin } from "./execution/report-margin.js";
export type { Submissions, SubmissionState, SubmissionSwitch } from "./execution/submission-switch.js";
export { type Scope, SCOPES } from "./accounts/scopes.js";
export type { Tier, UploadQuota } from "./accounts/tiers.js";
export { available, type Balance, type LedgerEntry } from "./credits/balance.js";
export type { Bucket } from "./credits/grant.js";
export type { GrantOptions, ManageCredits, Renewal, RenewOptions } from "./credits/manage-credits.js";
export * from "./error-codes.js";
export * from "./errors.js";
export type { AcceptedGeneration, AcceptGeneration, AcceptGenerationRequest } from "./generations/accept-generation.js";
export type { JobWithTracks, ReadGenerations } from "./generations/read-generations.js";
export type { GenerationInput } from "./generations/request-rules.js";
export type { WaitForJob } from "./generations/wait-for-job.js";
export type * from "./ids.js";
export type { Job, JobAttempt, JobError, JobRequest, JobStatus } from "./jobs/job.js";
export type { JobEnded, JobEvents } from "./jobs/job-events.js";
export type { OperateJobs } from "./jobs/operate-jobs.js";
export type { SplitOptions, SplitRequest, StartedSplit, StartSplit } from "./generations/start-split.js";
export { type ImportedLibrary, ImportRefusedError } from "./library/import-library.js";
export type { ManageLibrary, NewPlaylist, OnBehalf } from "./library/manage-library.js";
export type { ImportMistake } from "./library/members-reader.js";
export type { Playlist } from "./library/playlist.js";
export type { PlaylistChanges } from "./library/playlist-rules.js";
export type { FoundInLibrary, PlaylistWithTracks, ReadLibrary } from "./library/read-library.js";
export type { SearchInput } from "./library/search-rules.js";
export type { ShareUrls } from "./library/share-urls.js";
export type { Track, TrackAsset } from "./library/track.js";
export type { TrackUpload, UploadTrack } from "./library/upload-track.js";
export type { ListedModel, ListModels } from "./providers/list-models.js";
export {
  type AnalysisRequest,
  type AudioAnalyser,
  type AudioAnalysis,
  type AudioPreview,
  AudioUnreadableError,
} from "./ports/audio-analyser.js";
export type { AudioLink, AudioStore, ListedAudio, StoredAudio } from "./ports/audio-store.js";
export type { Clock } from "./ports/clock.js";
export type { JobQueue } from "./ports/job-queue.js";
export type { LedgerAudit, LedgerViolation } from "./ports/ledger-store.js";
export type { Logger } from "./ports/logger.js";
