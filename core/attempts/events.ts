import type { AttemptId, CallbackId } from "../ids.js";
import type { StoredFiles } from "../jobs/job.js";
import type { Completed, ProviderCost, ProviderFailure, ProviderHandle } from "../ports/music-provider.js";
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
  /** The provider's reply, or a look-up, says that it was accepted. */
  | {
      readonly type: "accepted";
      readonly number: number;
      readonly handle: ProviderHandle;
      readonly nextPollMs: number;
    }
  /**
   * The call failed; `fallback` is where the job may go in that case. `isAborted`: by ourselves, which says nothing
   * about the provider.
   */
  | {
      readonly type: "submission_failed";
      readonly number: number;
      readonly failure: ProviderFailure;
      readonly fallback: Route | null;
      readonly isAborted: boolean;
    }
  /** The provider is sure that the attempt never reached it. */
  | { readonly type: "absent"; readonly number: number }
  /** Nothing could be found out about an attempt with an unknown outcome. */
  | { readonly type: "unresolved"; readonly number: number; readonly callbacksRead: readonly CallbackId[] }
  /** What the job asks for can no longer be built. */
  | { readonly type: "unbuildable"; readonly failure: ProviderFailure }
  /** The provider is unavailable, and the job goes to a fallback. */
  | { readonly type: "moved"; readonly route: Route };

export type RenderingEvent =
  | {
      readonly type: "running";
      readonly number: number;
      readonly nextPollMs: number;
      /** Replaces the stored handle when given. */
      readonly handle: ProviderHandle | null;
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
  /** The provider has made it. `result` is null when it is only in the memory of the worker. */
  | {
      readonly type: "finished";
      readonly number: number;
      readonly result: Completed | null;
      readonly cost: ProviderCost | null;
      /** Replaces the stored handle when given. */
      readonly handle?: ProviderHandle | undefined;
      /** Left out when no callback said so. */
      readonly callbacksRead?: readonly CallbackId[];
    };

export type FilesEvent =
  | {
      readonly type: "files_stored";
      readonly number: number;
      readonly files: StoredFiles;
      readonly cost: ProviderCost | null;
    }
  /** The job cannot be settled with them now. */
  | { readonly type: "files_kept"; readonly number: number; readonly files: StoredFiles }
  /**
   * The files could not be fetched or stored. `failure` is null when it may go well later. `again`: where they can be
   * had another time; `nowhere` when they were in the memory of the worker alone. `endsCollection`: this worker had
   * begun a collection of them.
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
  /** More workers than are excused were lost on the job, or failed on it. */
  | { readonly type: "suspected" }
  /** The worker is about to collect what the provider made, and to analyse it. */
  | { readonly type: "collecting" }
  /** Something broke that no rule foresees; with `endsCollection` in a collection that this worker had begun. */
  | { readonly type: "crashed"; readonly endsCollection?: boolean }
  /** The worker has nothing to report and gives its lease up; `endsCollection` as above. */
  | { readonly type: "released"; readonly afterMs: number; readonly endsCollection?: boolean };

export type EndEvent =
  /** An operator ends the job. */
  | { readonly type: "cancelled" }
  /** A deadline may be over: that of the queue, or that of an open attempt. */
  | { readonly type: "deadline" };
