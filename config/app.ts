import type { Http } from "../adapters/http/index.js";
import type { Core } from "../core/create-core.js";
import { type StopOptions, type StoppedWork } from "../core/execution/work-jobs.js";
import type { AccountId } from "../core/ids.js";
import type { ImportedLibrary } from "../core/library/import-library.js";
import type { Track } from "../core/library/track.js";
import type { TrackUpload } from "../core/library/upload-track.js";
import type { Clock } from "../core/ports/clock.js";
import type { Logger } from "../core/ports/logger.js";
import { type LoadedPlugin } from "./plugins.js";
import type { Settings } from "./settings.js";

/** Tracks and playlists: `read` as an account sees them, `manage` playlists and sharing. */
export interface AppLibrary extends Pick<Core["library"], "read" | "manage"> {
  /**
   * Brings in tracks and playlists, all or none, in the form of `library import`.
   *
   * @param folder where `audio_file` begins; without it no track may name one
   * @throws {ImportRefusedError} with every issue
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

/** A link to the studio that needs no key. */
export interface StudioLink {
  readonly url: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

/** {@link App} without the HTTP server: for commands and processes that only work on jobs. */
export interface HeadlessApp extends Omit<Core, "library" | "api" | "createWorkers"> {
  /** Tracks and playlists: reads, keeps, shares, imports and uploads them. */
  readonly library: AppLibrary;
  /** As `compose` was given them. */
  readonly settings: Settings;
  /** Where Fermata writes its log lines. */
  readonly logger: Logger;
  /** The time by which all moments are stored: the storage's, unless another clock was given. */
  readonly clock: Clock;
  /** The provider plugins that were loaded, those that are not enabled included. */
  readonly plugins: readonly LoadedPlugin[];
  /** Begins to work on jobs in this process. */
  work(): Promise<void>;
  /**
   * Serves `GET /metrics` alone, for a process that does not serve the API: at `metrics.host` and the first free port
   * from `metrics.port` on. {@link App.listen} does it too; a second time changes nothing.
   *
   * @returns the address; null when there are no metrics, or `metrics.port` is null
   * @throws {Error} naming the address and why it cannot be had
   */
  listenForMetrics(): Promise<string | null>;
  /**
   * A link that opens the studio for an account without a key; null where there is no studio. The audit log has it.
   *
   * @throws {OperationRefusedError} no such account
   */
  studioLink(accountId: AccountId): Promise<StudioLink | null>;
  /** True until the first account is created. */
  isEmpty(): Promise<boolean>;
  /** The names of the parts that are not fine; none when all is well. */
  readiness(): Promise<string[]>;
  /**
   * Stops accepting, finishes or releases what runs, waits up to `jobs.drainSeconds` for calls that cannot be
   * repeated, and closes everything. A second call does nothing but wait for the first.
   */
  stop(options?: AppStopOptions): Promise<void>;
}

/** An open Fermata: the use cases of its core, and its process. Several can live in one process. */
export interface App extends HeadlessApp {
  /** The public API, to be mounted in an Express app; {@link listen} serves the same. */
  readonly router: Http["router"];
  /**
   * Serves the API at `http.host` and `http.port`, and its figures where `metrics.host` and `metrics.port` say.
   *
   * @throws {Error} naming the address and why it cannot be had
   */
  listen(): Promise<ListeningAt>;
}

/** Where an app listens. */
export interface ListeningAt {
  readonly url: string;
  /** Of the figures; null: there are none. */
  readonly metricsUrl: string | null;
  /** Of the admin API; null: it is off. */
  readonly adminUrl: string | null;
}

export interface AppStopOptions extends Omit<StopOptions, "drainMs"> {
  /** Called with what could not be finished or released, once nothing is at work any more. */
  onStopped?(stopped: StoppedWork): void;
}
