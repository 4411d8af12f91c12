import type { ProviderCost } from "./outcomes.js";
import type { ReferenceModes, SourceLimits } from "./references.js";
import type { RequestOptions } from "./request-options.js";
import type { OpenSandbox } from "./sandbox.js";

/**
 * One setting a plugin takes under `plugins.<id>`. `secret` values are masked wherever settings are shown. A text that
 * is empty is an error, unless `canBeEmpty`.
 */
export type ProviderSetting = {
  readonly description: string;
  readonly required?: boolean;
  readonly secret?: boolean;
} & (
  | {
      readonly type: "string";
      readonly default?: string;
      readonly allowed?: readonly string[];
      readonly canBeEmpty?: boolean;
    }
  | { readonly type: "integer"; readonly default?: number; readonly minimum?: number; readonly maximum?: number }
  | { readonly type: "boolean"; readonly default?: boolean }
);

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
 * Capabilities that not every provider has. Each that is true or named has its method; the conformance suite checks
 * both sides.
 */
export interface ProviderCapabilities {
  /**
   * `submit` with the same `jobId` never creates a second work there. False: after a lost reply the job waits for
   * `lookup` or the grace time and is refunded.
   */
  readonly idempotentSubmit: boolean;
  /**
   * `lookup` finds what an attempt left there. False: an attempt whose reply was lost is repeated where
   * `idempotentSubmit` allows it; elsewhere a late callback or the grace time decides, and the job is refunded.
   */
  readonly lookup: boolean;
  /** How long after a submission `lookup` may still not see it: `absent` is believed from then on. 0 by default. */
  readonly lookupSettlesMs?: number;
  /** `cancel` stops accepted work, at least sometimes. False: work that no job needs any more runs to its end there. */
  readonly cancel: boolean;
  /**
   * It reports to `callbackUrl`. `signed`: `parseCallback` can verify the signature, and its result is used. `hints`: a
   * callback only makes the job due for a poll. `none`, the default: the job gets no callback URL.
   */
  readonly callbacks?: "none" | "hints" | "signed";
  /** Operations other than generations. Missing: the provider is never asked for them, and no route leads to it. */
  readonly stemSplit?: SplitCapability;
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
   * itself or among its causes, says that no connection came about. Files are not fetched with it: give them as a
   * {@link UrlSource}.
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
