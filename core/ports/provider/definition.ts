import type { DeclaredSetting } from "../declared-settings.js";
import type { ProviderCost } from "./outcomes.js";
import type { ReferenceModes, SourceLimits } from "./references.js";
import type { RequestOptions } from "./request-options.js";
import type { OpenSandbox } from "./sandbox.js";

/** One setting that a plugin takes under `plugins.<id>`. */
export type ProviderSetting = DeclaredSetting;

/** Whole seconds, both ends included. */
export interface DurationBounds {
  readonly minSeconds: number;
  readonly maxSeconds: number;
  /** What a plugin asks its provider for where a request names no duration. */
  readonly defaultSeconds: number;
}

/**
 * A model that callers can choose. The operator may change any member but the id, and add models, under
 * `plugins.<id>.models`. Its members are within `MODEL_LIMITS`.
 */
export interface ProviderModel {
  /** Public id, `<provider>/<name>`, in lower case. */
  readonly id: string;
  readonly name: string;
  /** Whole credits for one generation. */
  readonly creditCost: number;
  readonly supportsLyrics: boolean;
  readonly supportsInstrumental: boolean;
  /** A generation that is not instrumental needs lyrics. */
  readonly requiresLyrics?: boolean;
  /** null: the provider takes no duration; a request that names one is refused. */
  readonly duration: DurationBounds | null;
  /** In code points; by default `MODEL_LIMITS.lyricsLength`. */
  readonly lyricsMaxLength?: number;
  /** In code points; by default `MODEL_LIMITS.promptLength`. */
  readonly promptMaxLength?: number;
  /** What the provider calls the model. */
  readonly upstream?: string;
  /** The expected cost of a generation, for the margin report, where the provider does not report it. */
  readonly upstreamCost?: ProviderCost;
  /**
   * An accepted attempt is given up after this time, above 0. Left out: `jobs.renderDeadlineMinutes`.
   */
  readonly renderDeadlineMinutes?: number;
  /** How long a render usually takes, in seconds, above 0. What was measured counts more. */
  readonly usualRenderSeconds?: number;
  /** What callers may choose beyond prompt and lyrics. Left out: nothing. */
  readonly requestOptions?: RequestOptions;
  /** What the model can do with a track. Left out: nothing. */
  readonly references?: ReferenceModes;
  /** What else the plugin needs to know of this model; its README says what. */
  readonly options?: { readonly [name: string]: unknown };
}

/** Which foreign audio a provider can split. */
export type SplitCapability = SourceLimits;

/**
 * Capabilities that not every provider has, and what jobs do without them. Each that is true or named has its method;
 * the conformance suite checks both sides.
 */
export interface ProviderCapabilities {
  /**
   * True: `submit` with the same `jobId` never creates a second work there. After a lost reply any worker submits
   * again, a process that stops may abort the call, and all attempts of a job have one `callbackUrl`.
   *
   * False: a submission whose outcome is unknown is never repeated. The job waits for a signed callback, for `lookup`,
   * or for the end of `jobs.unknownGraceSeconds`, and is then refunded. A process that stops waits for the call, for
   * `jobs.drainSeconds` at most. Each attempt has a `callbackUrl` of its own.
   */
  readonly idempotentSubmit: boolean;
  /**
   * True: `lookup` finds what an attempt left there, so that a job whose reply was lost goes on as soon as the provider
   * can be asked. Not used where `idempotentSubmit` is true.
   *
   * False: such a job has only a signed callback and the grace time. With `idempotentSubmit` false too, a result that
   * is not behind a link is lost with the worker that holds it: the job fails and is refunded.
   */
  readonly lookup: boolean;
  /**
   * How long after a submission `lookup` may still not see it: `absent` is believed from then on, and until then the
   * job waits. Left out: 0, the first `absent` after the end of the call counts.
   */
  readonly lookupSettlesMs?: number;
  /**
   * True: `cancel` stops accepted work, at least sometimes. When a caller cancels a job, its account is refunded if
   * `cancel` returns `cancelled`, or a poll reports a `cancelled` failure later; otherwise the work runs to its end. An
   * attempt that is given up (by an operator's force, or at its deadline) is cancelled there too; its job is refunded
   * whether or not that succeeds.
   *
   * False: the provider is not asked, and the work renders to its end there. The job is refunded all the same.
   */
  readonly cancel: boolean;
  /**
   * Whether it reports to `callbackUrl`.
   *
   * `signed`: `parseCallback` verifies the signature. A verified end counts without a poll, also for an attempt whose
   * reply was lost.
   *
   * `hints`: a callback is no proof. It makes the job due, and the worker polls.
   *
   * `none`, or left out: requests have no `callbackUrl`, and jobs learn of their end by polls alone.
   */
  readonly callbacks?: "none" | "hints" | "signed";
  /** Takes jobs that split a track into stems. Left out: such jobs go to the next of `stemSplit.providers`. */
  readonly stemSplit?: SplitCapability;
  /** Takes jobs that remove the vocals of a track. Left out: such jobs go to the next of `vocalRemoval.providers`. */
  readonly vocalRemoval?: SplitCapability;
}

/** What the host gives a plugin. */
export interface ProviderHost {
  readonly settings: { readonly [name: string]: string | number | boolean | undefined };
  /** Those of the definition, as the operator changed them. */
  readonly models: readonly ProviderModel[];
  /**
   * For calls of the provider's API: the one way out that a plugin has. It reaches what the operator wrote in settings,
   * and by https the public addresses of the definition's `hosts`; any other call throws a {@link ProviderFailure}
   * `misconfigured` with nothing sent. Redirects that it follows are checked alike. An error whose `notSent` is true,
   * itself or among its causes, says that nothing was sent: no connection came about, or the call was over before.
   * Files are not fetched with it: give them as a {@link UrlSource}.
   */
  readonly fetch: typeof fetch;
  /**
   * For work on bytes from elsewhere, such as decoding: child processes that a hostile file can break without breaking
   * Fermata. `close` of the plugin closes what it opened.
   */
  readonly sandbox: OpenSandbox;
  readonly clock: { now(): number; sleep(ms: number, signal?: AbortSignal): Promise<void> };
  readonly logger: {
    info(message: string, fields?: Record<string, unknown>): void;
    warn(message: string, fields?: Record<string, unknown>): void;
  };
}
