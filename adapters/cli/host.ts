import type { ExportedRecord } from "../../core/accounts/export-account.js";
import type { Core } from "../../core/create-core.js";
import type { LiveCheckResult, LiveProgress } from "../../core/live-check/live-check.js";
import type { LiveGeneration } from "../../core/live-check/live-generation.js";
import type { AccountId } from "../../core/ids.js";
import type { Balance } from "../../core/credits/balance.js";
import type { JobReport } from "../../core/jobs/operate-jobs.js";
import type { ImportedLibrary } from "../../core/library/import-library.js";
import type { TrackWithLyrics } from "../../core/library/lyrics.js";
import type { PlaylistWithTracks } from "../../core/library/read-library.js";
import type { Track } from "../../core/library/track.js";
import type { TrackUpload } from "../../core/library/upload-track.js";
import type { ShownEndpoint } from "../../core/webhooks/shown-endpoint.js";
import type { CheckResult } from "../../core/ports/self-check.js";
import type { CallerHost } from "./caller/caller-host.js";

/** What a command line process runs: the API, the workers, or both. */
export type RunMode = "start" | "serve" | "work";

export interface RunOptions {
  /** Says that the process is ready in one JSON document. */
  readonly json?: boolean;
}

/** What is known of an adapter for storage, queue or audio. */
export interface CheckedAdapter {
  /** `built-in`, or the package or path it comes from. */
  readonly source: string;
  /** null where its definition does not say. */
  readonly port: string | null;
  /** Examples of the URLs that it takes. */
  readonly urls: readonly string[];
  /** Names of its own settings. */
  readonly settings: readonly string[];
  readonly issues: readonly string[];
  /** null: it was not run. */
  readonly contract: {
    readonly passed: number;
    readonly failures: readonly { readonly title: string; readonly message: string }[];
  } | null;
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

/** What the settings alone say of what can be asked for. */
export interface ConfiguredCatalogue {
  readonly plugins: readonly PluginReport[];
  /** As the API shows them, but for circuit breakers: `available` where the settings offer them. */
  readonly models: readonly {
    readonly id: string;
    readonly credit_cost: number;
    readonly status: "available" | "unavailable";
  }[];
}

/** A setting that is in force. */
export interface ShownSetting {
  /** `http.port` */
  readonly path: string;
  /** As JSON; a secret is masked. */
  readonly value: unknown;
  readonly origin: "default" | "file" | "environment" | "app";
  /** The file or the variable; null for a default. */
  readonly source: string | null;
}

/** A link to the studio that needs no key. */
export interface StudioLink {
  readonly url: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

/** The use cases behind the commands; an open application without server and workers. */
export interface OperatorApp extends Pick<
  Core,
  | "accounts"
  | "adminTokens"
  | "audio"
  | "audit"
  | "credits"
  | "exports"
  | "jobs"
  | "ledgerArchives"
  | "margin"
  | "models"
  | "retryJobs"
  | "secrets"
  | "splits"
  | "storage"
  | "submissions"
  | "webhooks"
> {
  /** The time by which all moments are stored, in milliseconds since 1970. */
  now(): number;
  /** A link that opens the studio for an account; null where there is no studio. */
  studioLink(accountId: AccountId): Promise<StudioLink | null>;
  readonly generations: Core["operateGenerations"];
  readonly library: Pick<Core["library"], "read" | "manage"> & {
    /** @param folder where the files that it names begin */
    import(document: unknown, folder: string): Promise<ImportedLibrary>;
    upload(upload: TrackUpload): Promise<Track>;
  };
  /** What is archived of the ledger where a command does not say; null: nothing is. */
  readonly ledgerSettings: { readonly keepMonths: number | null; readonly archiveDir: string };
  close(): Promise<void>;
}

/** What a live check will call and buy. */
export interface LivePlan {
  readonly id: string;
  readonly label: string;
  /** Where the plugin's calls go, without credentials; empty where its settings and definition name no place. */
  readonly addresses: readonly string[];
  readonly hasProbe: boolean;
  /** null: it makes no music, and only its key is tried. */
  readonly generation: LiveGeneration | null;
}

/** `forced`: the process ends now, since the check did not stop in time. */
export type LiveReport = LiveProgress | { readonly type: "forced" };

/** A started plugin that has called nothing yet. */
export interface LiveCheckSession {
  readonly plan: LivePlan;
  /**
   * Tries the key, buys at most one generation and reads its files, once. The first signal to the process stops it
   * after the reply to a submission, the second at once.
   */
  run(report: (progress: LiveReport) => void): Promise<LiveCheckResult>;
  close(): Promise<void>;
}

/** Domain to JSON, the same as the API's. */
export interface Presenters {
  credits(balance: Balance): object;
  /** One line of an export. */
  exported(record: ExportedRecord): object;
  /** Where an export has a file, next to its lines. */
  exportedPath(audioKey: string): string;
  job(report: Pick<JobReport, "job" | "tracks" | "outputs">): object;
  playlist(found: PlaylistWithTracks): object;
  /** null while it is not shared. */
  shareUrl(track: Track): string | null;
  singleTrack(found: TrackWithLyrics): object;
  timeline(timeline: JobReport["timeline"]): object;
  track(track: Track): object;
  webhookEndpoint(endpoint: ShownEndpoint): object;
}

/** Which server `fermata mcp` calls, and how. */
export interface McpOptions {
  /** Undefined: `FERMATA_URL`, or the server of this machine at its default port. */
  readonly url?: string;
  /** A file with the API key; undefined: it is in `FERMATA_API_KEY`. */
  readonly keyFile?: string;
  /** Credits; undefined: as `mcp.confirmAbove`. */
  readonly confirmAbove?: number;
}

/** What the command line needs of the process around it. */
export interface CliHost {
  readonly version: string;
  /** How `fermata` is called here, such as `npx fermata`: hints name commands that can be pasted. */
  readonly invocation: string;
  /** The folder that its package.json is in. */
  readonly root: string;
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream & { readonly isTTY?: boolean };
  /** Asks the operator a question with yes or no; null where there is no terminal. */
  readonly confirm: ((question: string) => Promise<boolean>) | null;
  /** For the commands of callers, which need no settings. */
  readonly caller: CallerHost;
  /** Opens the storage. Fails when its schema is not the one of this version. */
  open(): Promise<{ readonly app: OperatorApp; readonly present: Presenters }>;
  /** Opens no storage. Fails like a start where settings are wrong. */
  showSettings(): Promise<readonly ShownSetting[]>;
  /** A line for everything that would stop a start, and for each setting given by an older name. Opens no storage. */
  checkSettings(): Promise<{ readonly issues: readonly string[]; readonly notes: readonly string[] }>;
  /** The plugins and models that the settings name. Opens no storage. */
  catalogue(): Promise<ConfiguredCatalogue>;
  /** Runs until a signal ends it. @returns whether everything that was under way was finished or released */
  run(mode: RunMode, options: RunOptions): Promise<boolean>;
  /** Applies what is pending. @returns the names of the migrations applied */
  /** Serves an MCP client over stdin and stdout until it goes or a signal comes. Opens no storage. */
  serveMcp(options: McpOptions): Promise<void>;
  migrate(): Promise<readonly string[]>;
  doctor(): Promise<readonly CheckResult[]>;
  /** Ids of the plugins that come with Fermata. */
  builtInPlugins(): Promise<readonly string[]>;
  /**
   * Looks at an adapter, and with a URL runs the contract suite of its port there.
   *
   * @param use a package or path; null: the built-in adapter of the URL
   * @param options own settings of the adapter, as the environment has them: text by name
   */
  checkAdapter(
    use: string | null,
    url: string | null,
    options: Readonly<Record<string, string>>,
  ): Promise<CheckedAdapter>;
  /** The default export of a package or a path, of any type. Fails when it cannot be loaded. */
  importPackage(use: string): Promise<unknown>;
  /**
   * Starts one plugin with its settings, to be proved against its service; without the storage, and without a call.
   *
   * @param use its id, or a package or path
   * @param modelId null: the cheapest model
   */
  openLiveCheck(use: string, modelId: string | null): Promise<LiveCheckSession>;
  /** Writes files, text by path, into an empty folder, or into a new one. @returns its absolute path */
  writePackage(directory: string, files: ReadonlyMap<string, string>): Promise<string>;
}
