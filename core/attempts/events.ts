import type { AttemptId, CallbackId } from "../ids.js";
import type { StoredFiles } from "../jobs/job.js";
import type {
  CancelOutcome,
  Completed,
  ProviderCost,
  ProviderFailure,
  ProviderHandle,
  ProviderProgress,
} from "../ports/music-provider.js";
import type { Route } from "../providers/routes.js";

/** What happened to a job under way. An event about an attempt names it by its number. */
export type ExecutionEvent = SubmissionEvent | RenderingEvent | FilesEvent | WorkerEvent | EndEvent;

export type SubmissionEvent =
  /** A worker is about to call the provider, which takes until `callEndsAt` at the longest. */
  | {
      readonly type: "intended";
      readonly attemptId: AttemptId;
      readonly number: number;
      readonly callEndsAt: number;
      /** How long the model usually renders; null when that is not known. */
      readonly usualRenderMs: number | null;
    }
  /** The provider was surely not called. */
  | { readonly type: "not_called"; readonly number: number; readonly message: string }
  /** The provider's reply, or a look-up, reports that the attempt was accepted. */
  | {
      readonly type: "accepted";
      readonly number: number;
      readonly handle: ProviderHandle;
      readonly nextPollMs: number;
    }
  /**
   * The call failed; `fallback` is the route that the job may take then. `isAborted`: this process aborted the call,
   * which says nothing about the provider.
   */
  | {
      readonly type: "submission_failed";
      readonly number: number;
      readonly failure: ProviderFailure;
      readonly fallback: Route | null;
      readonly isAborted: boolean;
    }
  /** The provider reports that it never received the attempt; `fallback` as above. */
  | { readonly type: "absent"; readonly number: number; readonly fallback: Route | null }
  /** The outcome of an attempt could not be resolved. */
  | { readonly type: "unresolved"; readonly number: number; readonly callbacksRead: readonly CallbackId[] }
  /** The request of the job can no longer be built. */
  | { readonly type: "unbuildable"; readonly failure: ProviderFailure }
  /** The provider is unavailable and the job moves to a fallback. */
  | { readonly type: "moved"; readonly route: Route };

export type RenderingEvent =
  | {
      readonly type: "running";
      readonly number: number;
      readonly nextPollMs: number;
      /** Replaces the stored handle when given. */
      readonly handle: ProviderHandle | null;
      /** Left out when the provider said nothing of it. */
      readonly progress?: ProviderProgress;
      readonly callbacksRead: readonly CallbackId[];
    }
  /** `failure` is null when the plugin failed without saying why. A signed callback needs no confirmation. */
  | {
      readonly type: "poll_failed";
      readonly number: number;
      readonly failure: ProviderFailure | null;
      readonly source: "poll" | "callback";
      readonly callbacksRead: readonly CallbackId[];
    }
  /** The provider has completed the work. `result` is null when it is only in the memory of the worker. */
  | {
      readonly type: "finished";
      readonly number: number;
      readonly result: Completed | null;
      readonly cost: ProviderCost | null;
      /** Replaces the stored handle when given. */
      readonly handle?: ProviderHandle | undefined;
      /** Left out when no callback said so. */
      readonly callbacksRead?: readonly CallbackId[];
      /** True: the worker goes on to download and analyse the files, as in `collecting`. */
      readonly collects?: boolean;
    };

export type FilesEvent =
  | {
      readonly type: "files_stored";
      readonly number: number;
      readonly files: StoredFiles;
      readonly cost: ProviderCost | null;
    }
  /** The files are stored, but the job cannot be settled now. */
  | { readonly type: "files_kept"; readonly number: number; readonly files: StoredFiles }
  /**
   * The files could not be fetched or stored. `failure` is null when a retry may succeed. `again`: where they can be
   * fetched again; `nowhere` when they were only in the memory of the worker. `endsCollection`: this worker had begun
   * to collect them.
   */
  | {
      readonly type: "files_unavailable";
      readonly number: number;
      readonly failure: ProviderFailure | null;
      readonly again: "link" | "provider" | "nowhere";
      readonly endsCollection?: boolean;
      readonly cost: ProviderCost | null;
    };

export type WorkerEvent =
  /** More than {@link CRASHES_MAX} workers in a row were lost on the job, or failed on it; `wasLost`: the last was. */
  | { readonly type: "suspected"; readonly wasLost: boolean }
  /** The worker is about to download and analyse the provider's files. */
  | { readonly type: "collecting" }
  /** The step failed unexpectedly; `endsCollection`: while this worker collected files. */
  | { readonly type: "crashed"; readonly endsCollection?: boolean }
  /** The worker has nothing to report and gives its lease up; `endsCollection` as above. */
  | { readonly type: "released"; readonly afterMs: number; readonly endsCollection?: boolean };

export type EndEvent =
  /** The job is wanted no more. */
  | { readonly type: "cancel_requested" }
  /** The provider's reply to a request to cancel an open attempt; null: it cannot be asked. */
  | { readonly type: "cancel_reported"; readonly number: number; readonly outcome: CancelOutcome | null }
  /** An operator ends the job, whatever is bought. */
  | { readonly type: "cancelled" }
  /** The queue deadline, or that of an open attempt, may be over. */
  | { readonly type: "deadline" };
