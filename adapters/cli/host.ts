import type { ManageAccounts } from "../../core/accounts/manage-accounts.js";
import type { ReadAudit } from "../../core/audit/read-audit.js";
import type { ReportMargin } from "../../core/execution/report-margin.js";
import type { SubmissionSwitch } from "../../core/execution/submission-switch.js";
import type { CollectAudio } from "../../core/maintenance/collect-audio.js";
import type { Balance } from "../../core/credits/balance.js";
import type { ManageCredits } from "../../core/credits/manage-credits.js";
import type { JobReport, OperateJobs } from "../../core/jobs/operate-jobs.js";
import type { OperateGenerations } from "../../core/generations/operate-generations.js";
import type { StartSplit } from "../../core/generations/start-split.js";
import type { ImportedLibrary } from "../../core/library/import-library.js";
import type { ManageLibrary } from "../../core/library/manage-library.js";
import type { PlaylistWithTracks, ReadLibrary } from "../../core/library/read-library.js";
import type { Track } from "../../core/library/track.js";
import type { TrackUpload } from "../../core/library/upload-track.js";
import type { RotateSecrets } from "../../core/secrets/rotate-secrets.js";
import type { WebhookEndpoint } from "../../core/webhooks/endpoint.js";
import type { ManageEndpoints } from "../../core/webhooks/manage-endpoints.js";
import type { OperateWebhooks } from "../../core/webhooks/operate-webhooks.js";
import type { ListedModel, ListModels } from "../../core/providers/list-models.js";
import type { Finding } from "../../core/ports/self-check.js";

/** What a command line process runs: the API, the workers, or both. */
export type RunMode = "start" | "serve" | "work";

export interface RunOptions {
  /** Says that the process is ready in one JSON document. */
  readonly json?: boolean;
}

/** A provider plugin named in config. */
export interface PluginReport {
  readonly id: string;
  readonly label: string;
  readonly enabled: boolean;
  /** `built-in`, or the package or path it comes from. */
  readonly source: string;
  readonly port_version: number;
  readonly models: readonly string[];
}

/** The use cases behind the commands; an open application without server and workers. */
export interface OperatorApp {
  /** The time by which all moments are stored, in milliseconds since 1970. */
  now(): number;
  readonly accounts: ManageAccounts;
  readonly audit: Pick<ReadAudit, "list" | "verify">;
  readonly credits: ManageCredits;
  readonly generations: OperateGenerations;
  readonly jobs: OperateJobs;
  readonly splits: StartSplit;
  readonly submissions: Pick<SubmissionSwitch, "pause" | "resume">;
  readonly models: ListModels;
  readonly margin: ReportMargin;
  readonly secrets: Pick<RotateSecrets, "rotate" | "status" | "retire">;
  readonly audio: Pick<CollectAudio, "collect">;
  readonly library: {
    readonly read: ReadLibrary;
    readonly manage: ManageLibrary;
    /** @param folder where the files that it names begin */
    import(document: unknown, folder: string): Promise<ImportedLibrary>;
    upload(upload: TrackUpload): Promise<Track>;
  };
  readonly webhooks: OperateWebhooks;
  readonly webhookEndpoints: Pick<ManageEndpoints, "list">;
  readonly plugins: readonly PluginReport[];
  close(): Promise<void>;
}

/** Domain to JSON, the same as the API's. */
export interface Presenters {
  credits(balance: Balance): object;
  job(report: Pick<JobReport, "job" | "tracks" | "outputs">): object;
  model(model: ListedModel): object;
  playlist(found: PlaylistWithTracks): object;
  /** null while it is not shared. */
  shareUrl(track: Track): string | null;
  track(track: Track): object;
  webhookEndpoint(endpoint: WebhookEndpoint): object;
}

/** What the command line needs of the process around it. */
export interface CliHost {
  readonly version: string;
  /** The folder that its package.json is in. */
  readonly root: string;
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream & { readonly isTTY?: boolean };
  /** Asks the operator a question with yes or no; null where there is no terminal. */
  readonly confirm: ((question: string) => Promise<boolean>) | null;
  /** Opens the storage. Fails when its schema is not the one of this version. */
  open(): Promise<{ readonly app: OperatorApp; readonly present: Presenters }>;
  /** Runs until a signal ends it. @returns whether everything that was under way was finished or released */
  run(mode: RunMode, options: RunOptions): Promise<boolean>;
  /** Applies what is pending. @returns the names of the migrations applied */
  migrate(): Promise<readonly string[]>;
  doctor(): Promise<readonly Finding[]>;
  /** What a package or a path exports by default, whatever it is. Fails when it cannot be loaded. */
  importPlugin(use: string): Promise<unknown>;
  /** Writes files, text by path, into a folder that is empty or made for them. @returns its whole path */
  writePackage(directory: string, files: ReadonlyMap<string, string>): Promise<string>;
}
