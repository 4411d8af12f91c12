import { type Http } from "../adapters/http/index.js";
import type { ManageAccounts } from "../core/accounts/manage-accounts.js";
import type { ReadAudit } from "../core/audit/read-audit.js";
import type { ReportMargin } from "../core/execution/report-margin.js";
import type { ManageCredits } from "../core/credits/manage-credits.js";
import type { AcceptGeneration } from "../core/generations/accept-generation.js";
import type { OperateGenerations } from "../core/generations/operate-generations.js";
import type { ReadGenerations } from "../core/generations/read-generations.js";
import type { JobEvents } from "../core/jobs/job-events.js";
import type { OperateJobs } from "../core/jobs/operate-jobs.js";
import type { StartSplit } from "../core/generations/start-split.js";
import type { SubmissionSwitch } from "../core/execution/submission-switch.js";
import { type StopOptions, type StoppedWork } from "../core/execution/work-jobs.js";
import type { CollectAudio } from "../core/maintenance/collect-audio.js";
import type { AudioUrls } from "../core/library/audio-urls.js";
import type { ImportedLibrary } from "../core/library/import-library.js";
import type { ManageLibrary } from "../core/library/manage-library.js";
import type { ReadLibrary } from "../core/library/read-library.js";
import type { ShareUrls } from "../core/library/share-urls.js";
import type { Track } from "../core/library/track.js";
import type { TrackUpload } from "../core/library/upload-track.js";
import type { ListModels } from "../core/providers/list-models.js";
import type { Clock } from "../core/ports/clock.js";
import type { Logger } from "../core/ports/logger.js";
import type { RotateSecrets } from "../core/secrets/rotate-secrets.js";
import type { ManageEndpoints } from "../core/webhooks/manage-endpoints.js";
import type { OperateWebhooks } from "../core/webhooks/operate-webhooks.js";
import { type LoadedPlugin } from "./plugins.js";
import type { Settings } from "./settings.js";

/** The storage's schema is not the one of this version. */
export class SchemaError extends Error {
  override readonly name = "SchemaError";
}

/** Tracks and playlists. */
export interface LibraryParts {
  /** As an account sees them. */
  readonly read: ReadLibrary;
  /** Playlists and sharing. */
  readonly manage: ManageLibrary;
  /**
   * Brings in tracks and playlists, all or none, in the form of `library import`.
   *
   * @param folder where `audio_file` begins; without it no track may name one
   * @throws {ImportRefusedError} with every mistake
   */
  import(document: unknown, folder?: string): Promise<ImportedLibrary>;
  /**
   * Makes a private track of an account from a file, within the quota of its tier; as `POST /api/v1/tracks`.
   *
   * @throws {InvalidRequestError} {@link PayloadTooLargeError} {@link OperationRefusedError} and others, as
   *   `UploadTrack.execute`
   */
  upload(upload: TrackUpload): Promise<Track>;
}

/** An open Fermata. Several can live in one process. */
export interface App {
  readonly settings: Settings;
  readonly logger: Logger;
  /** The time by which all moments are stored: the storage's, unless another clock was given. */
  readonly clock: Clock;
  readonly accounts: ManageAccounts;
  /** What operators and this app did, in a chain of hashes. */
  readonly audit: ReadAudit;
  readonly credits: ManageCredits;
  readonly generations: AcceptGeneration;
  /** The same by an account's id, recorded in the audit log. */
  readonly operateGenerations: OperateGenerations;
  readonly reads: ReadGenerations;
  readonly jobs: OperateJobs;
  /** Stem splits and vocal removals. */
  readonly splits: StartSplit;
  /** Pauses and resumes the buying of new work, in all processes. */
  readonly submissions: SubmissionSwitch;
  readonly models: ListModels;
  /** What accounts paid and providers billed. */
  readonly margin: ReportMargin;
  /** Finds and deletes audio files that lost workers left behind. */
  readonly audio: Pick<CollectAudio, "collect">;
  readonly events: JobEvents;
  readonly library: LibraryParts;
  /** Signs links to stored audio. A link to a file of a track has to carry the track's `linkGeneration`. */
  readonly audioUrls: AudioUrls;
  /** Rotates the secret key. */
  readonly secrets: RotateSecrets;
  /** Addresses of the pages of shared tracks. */
  readonly shareUrls: ShareUrls;
  readonly webhookEndpoints: ManageEndpoints;
  readonly webhooks: OperateWebhooks;
  readonly plugins: readonly LoadedPlugin[];
  /** The public API, to be mounted in an Express app; {@link listen} serves the same. */
  readonly router: Http["router"];
  /**
   * Serves the API at `http.host` and `http.port`, and its figures where `metrics.host` and `metrics.port` say.
   *
   * @returns the address it listens on, and that of the figures; null: there are none
   * @throws {Error} naming the address and why it cannot be had
   */
  listen(): Promise<{ readonly url: string; readonly metricsUrl: string | null }>;
  /** Begins to work on jobs in this process. */
  work(): Promise<void>;
  /** True while no account was ever made. */
  isEmpty(): Promise<boolean>;
  /** The names of the parts that are not fine; none when all is well. */
  readiness(): Promise<string[]>;
  /**
   * Stops accepting, finishes or releases what runs, waits up to `jobs.drainSeconds` for calls that cannot be
   * repeated, and closes everything. A second call does nothing but wait for the first.
   */
  stop(options?: AppStopOptions): Promise<void>;
}

export interface AppStopOptions extends Omit<StopOptions, "drainMs"> {
  /** Called with what could not be finished or released, once nothing is at work any more. */
  onStopped?(stopped: StoppedWork): void;
}
