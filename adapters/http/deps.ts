import type { Authenticate } from "../../core/accounts/authenticate.js";
import type { Scope } from "../../core/ports/scopes.js";
import type { ReceiveCallback } from "../../core/providers/receive-callback.js";
import type { ManageCredits } from "../../core/credits/manage-credits.js";
import type { ErrorCode } from "../../core/error-codes.js";
import type { AcceptGeneration } from "../../core/generations/accept-generation.js";
import type { AcceptSplit } from "../../core/generations/accept-split.js";
import type { FollowJobs } from "../../core/generations/follow-jobs.js";
import type { ReadGenerations } from "../../core/generations/read-generations.js";
import type { WaitForJob } from "../../core/generations/wait-for-job.js";
import type { StoredResponse } from "../../core/ports/idempotency-store.js";
import type { AccountId, JobId, RequestId } from "../../core/ids.js";
import type { CancelOwnJob } from "../../core/jobs/cancel-own-job.js";
import type { AudioUrls } from "../../core/library/audio-urls.js";
import type { ManageLibrary } from "../../core/library/manage-library.js";
import type { PublicLinks } from "../../core/library/public-links.js";
import type { ReadLibrary } from "../../core/library/read-library.js";
import type { ShareUrls } from "../../core/library/share-urls.js";
import type { UploadTrack } from "../../core/library/upload-track.js";
import type { FindModels } from "../../core/providers/find-models.js";
import type { ListModels } from "../../core/providers/list-models.js";
import type { AudioStore } from "../../core/ports/audio-store.js";
import type { Clock } from "../../core/ports/clock.js";
import type { IdGenerator } from "../../core/ports/id-generator.js";
import type { Logger } from "../../core/ports/logger.js";
import type { Metrics } from "../../core/ports/metrics.js";
import type { Tracer } from "../../core/ports/tracer.js";
import type { ConcurrencyBudget } from "../../core/rate-limits/concurrency-budget.js";
import type { Limits } from "../../core/rate-limits/limits.js";
import type { NetworkBudget } from "../../core/rate-limits/network-budget.js";
import type { ReadUsage } from "../../core/usage/read-usage.js";
import type { ManageEndpoints } from "../../core/webhooks/manage-endpoints.js";
import type { ReadEvents } from "../../core/webhooks/read-events.js";
import type { AdminDeps } from "./admin/deps.js";
import type { ConnectionLimits } from "./connections/limits.js";
import type { McpDeps } from "./mcp-endpoint.js";
import type { AuthenticateRequest } from "./signed-in.js";
import type { StudioDeps } from "./sessions/studio-session.js";

/** Trusted proxies, as in Express's `trust proxy`: none, a number of hops, or these networks. */
export type TrustProxy = boolean | number | string | readonly string[];

export interface HttpSettings {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Largest request body. */
  readonly bodyLimitBytes: number;
  /** For the adapter's own server only: a router in another app uses that app's setting. */
  readonly trustProxy: TrustProxy;
  /** Shown in the API description. */
  readonly version: string;
  /** What a key needs for webhook endpoints; null where any key will do. */
  readonly webhookScope: Scope | null;
  /** The longest wait that a caller can ask for (RFC 7240, `Prefer: wait`). */
  readonly maxWaitSeconds: number;
  /** Those of connections are for the own server only: a router in a foreign app has that app's. */
  readonly connections: ConnectionLimits;
  readonly uploads: UploadSettings;
}

export interface UploadSettings {
  /** Of one file. */
  readonly maxBytes: number;
  /** How long a whole upload may take to arrive. */
  readonly timeoutMs: number;
}

/** Figures in the text format of Prometheus. */
export interface MetricsPage {
  readonly contentType: string;
  text(): Promise<string>;
}

/** An authenticated request whose response has ended. */
export interface CompletedRequest {
  readonly requestId: RequestId;
  readonly accountId: AccountId;
  readonly method: string;
  /** Without query. */
  readonly path: string;
  /** The path's template, `/api/v1/models/{model_id}`. */
  readonly route: string;
  /** 499 when the client went away before the response. */
  readonly status: number;
  readonly errorCode: ErrorCode | null;
  /** Bytes of the body; null when there was none, or the size is unknown. */
  readonly requestBytes: number | null;
  readonly responseBytes: number;
  /** The job that the request created, replayed or read. */
  readonly jobId: JobId | null;
  /** Label of the calling integration, at most 100 characters. */
  readonly client: string | null;
  readonly startedAt: number;
}

/** A controller of `./controllers`, which the container constructs from the dependencies of the adapter. */
export type ControllerClass = new (deps: HttpDeps) => object;

export interface ControllerSource {
  get(Controller: ControllerClass): object;
}

/** How requests without a key are authenticated. */
export interface AppAuthentication extends Pick<Authenticate, "findAccount"> {
  readonly authenticate: AuthenticateRequest;
}

/** What accounts do with their own library. */
export type OwnLibrary = Pick<
  ManageLibrary,
  "share" | "unshare" | "deleteTrack" | "createPlaylist" | "editPlaylist" | "deletePlaylist"
>;

/** Everything that the HTTP adapter needs of the world. */
export interface HttpDeps {
  readonly settings: HttpSettings;
  /** What callers reach this server by, without a slash at its end; called for every URL. */
  readonly publicUrl: { readonly current: string };

  readonly authenticate: Pick<Authenticate, "identify">;
  /** Asked about requests without a key; without it they are all refused. */
  readonly app?: AppAuthentication;
  /** Behind the studio; without it there is none. */
  readonly studio?: StudioDeps;
  /** Behind `/mcp`; without it there is none. */
  readonly mcp?: McpDeps;
  readonly limits: Limits;
  readonly networkBudget: Pick<NetworkBudget, "enter">;
  readonly credits: Pick<ManageCredits, "balance">;
  readonly models: ListModels;
  readonly findModels: Pick<FindModels, "page">;
  readonly acceptGeneration: Pick<AcceptGeneration, "execute">;
  readonly acceptSplit: Pick<AcceptSplit, "execute" | "offersFor">;
  readonly ownLibrary: OwnLibrary;
  readonly readGenerations: ReadGenerations;
  readonly waitForJob: Pick<WaitForJob, "wait">;
  /** How many requests of an account may wait for their job at once, in this process. */
  readonly waits: Pick<ConcurrencyBudget, "tryEnter">;
  readonly cancelJob: Pick<CancelOwnJob, "execute">;
  readonly followJobs: Pick<FollowJobs, "follow">;
  readonly readLibrary: ReadLibrary;
  readonly uploadTrack: Pick<UploadTrack, "execute">;
  readonly receiveCallback: Pick<ReceiveCallback, "receive" | "isAddress">;
  readonly webhookEndpoints: Pick<ManageEndpoints, "page" | "create" | "update" | "remove">;
  readonly readEvents: Pick<ReadEvents, "list">;
  readonly usage: Pick<ReadUsage, "usage" | "logs">;
  /** Replaces the stored response of a key, before the new one is sent. */
  recordResponse(accountId: AccountId, idempotencyKey: string, jobId: JobId, response: StoredResponse): Promise<void>;

  /** Behind the admin API; without it there is none. */
  readonly admin?: AdminDeps;

  readonly audioUrls: AudioUrls;
  readonly shareUrls: ShareUrls;
  readonly publicLinks: Pick<PublicLinks, "findSharedTrack" | "isSuspended">;
  readonly audioStore: Pick<AudioStore, "stat" | "read" | "linkTo">;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  readonly logger: Logger;

  /** Where routes get their controllers. */
  readonly controllers: ControllerSource;

  /** The names of the parts that are not fine; none when all is well. */
  readiness(): Promise<readonly string[]>;
  readonly metrics?: Pick<Metrics, "countRequest">;
  /** Without it no request is traced. */
  readonly tracer?: Tracer;
  /** What `GET /metrics` shows; without it there is no such page. */
  readonly metricsPage?: MetricsPage;
  /** Called for every authenticated request once its response has ended. */
  onCompleted?(completed: CompletedRequest): void;
}
