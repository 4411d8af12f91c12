/**
 * The plugin port: what a music provider declares and does. A plugin imports this file and nothing else of Fermata.
 *
 * A definition is data first (id, settings, models, capabilities), so that the host can list, check and document a
 * plugin without starting it; behaviour comes from `create`.
 */

/** Raised on every incompatible change of this file. A plugin that names another version stops the start. */
export const PROVIDER_PORT_VERSION = 1;

/** Why a provider could not do the work. Only `unavailable` and `timeout` are tried again. */
export type ProviderFailureKind =
  /** It refused for now (overload, rate limit, no connection). Nothing was accepted. */
  | "unavailable"
  /** It reported that it ran out of time. Nothing is still running there. */
  | "timeout"
  /** It refused the content of this request for good. */
  | "content_rejected"
  /** It tried and failed, or it will never do this request. */
  | "failed"
  /** The request may or may not have been accepted: a lost reply. Never submitted again blindly. */
  | "outcome_unknown";

const FAILURE_BRAND = Symbol.for("fermata.provider-failure");

/** The only error a provider may throw on purpose; anything else counts as `outcome_unknown` on submit. */
export class ProviderFailure extends Error {
  override readonly name = "ProviderFailure";
  readonly [FAILURE_BRAND] = true;
  /** How long the provider asks us to wait, in milliseconds; null when it did not say. */
  readonly retryAfterMs: number | null;

  /** @param message for operators, without secrets; callers of the API never see it */
  constructor(
    readonly kind: ProviderFailureKind,
    message: string,
    options: { readonly retryAfterMs?: number; readonly cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.retryAfterMs = options.retryAfterMs ?? null;
  }

  /** True for a failure of any copy of this class; a plugin may carry its own. */
  static is(value: unknown): value is ProviderFailure {
    return typeof value === "object" && value !== null && FAILURE_BRAND in value;
  }
}

/** One setting a plugin takes under `plugins.<id>`. `secret` values are masked wherever settings are shown. */
export type ProviderSetting = { readonly description: string; readonly required?: boolean; readonly secret?: boolean } & (
  | { readonly type: "string"; readonly default?: string; readonly allowed?: readonly string[] }
  | { readonly type: "integer"; readonly default?: number; readonly minimum?: number; readonly maximum?: number }
  | { readonly type: "boolean"; readonly default?: boolean }
);

/** Whole seconds, both ends included. */
export interface DurationBounds {
  readonly minSeconds: number;
  readonly maxSeconds: number;
  readonly defaultSeconds: number;
}

/** A model that callers can choose. */
export interface ProviderModel {
  /** Public id, `<provider>/<name>`; lower case, at most 100 characters. */
  readonly id: string;
  readonly name: string;
  /** Whole credits for one generation. */
  readonly creditCost: number;
  readonly supportsLyrics: boolean;
  readonly supportsInstrumental: boolean;
  /** null: the provider takes no duration; a request that names one is refused. */
  readonly duration: DurationBounds | null;
  /** In code points; at most and by default 10,000. */
  readonly lyricsMaxLength?: number;
}

/** Powers that not every provider has. */
export interface ProviderCapabilities {
  /**
   * `submit` with the same `jobId` never makes a second piece of work there. False: after a lost reply the job waits for
   * `lookup` or the grace time and is refunded.
   */
  readonly idempotentSubmit: boolean;
  /** `lookup` finds what an attempt left there. */
  readonly lookup: boolean;
  readonly cancel: boolean;
}

/** What a generation asks of a provider. Already checked against the model's own bounds. */
export interface MusicRequest {
  readonly operation: "music";
  /** The same for every attempt of one job: pass it as the provider's idempotency key where there is one. */
  readonly jobId: string;
  /** One per try: pass it as client reference or metadata where the provider can be searched by it. */
  readonly attemptId: string;
  /** Counts from 1. */
  readonly attempt: number;
  readonly modelId: string;
  readonly prompt: string;
  readonly lyrics: string | null;
  readonly durationSeconds: number | null;
  readonly instrumental: boolean;
}

export type SubmitRequest = MusicRequest;

/** Where the bytes of an asset come from. A stream is opened at most once per attempt to store it. */
export type AssetSource =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  | { readonly kind: "stream"; open(): AsyncIterable<Uint8Array> };

/** A file of a track. */
export interface ProviderAsset {
  /** `mix` is the playable file and must be there; `master` is a lossless copy of it kept for processing. */
  readonly role: "mix" | "master" | "preview" | "stem" | "cover";
  /** `full` for mix, master, preview and cover; a stem's lower-case name for stems. */
  readonly label: string;
  readonly contentType: "audio/mpeg" | "audio/wav" | "audio/flac" | "audio/ogg" | "audio/mp4" | "image/png" | "image/jpeg";
  /** Length of the sound, in seconds; null when not known, and for images. */
  readonly durationSeconds: number | null;
  readonly source: AssetSource;
}

/** Words that describe a track, lower case. */
export interface TrackTags {
  readonly mood: readonly string[];
  readonly activity: readonly string[];
  readonly genre: readonly string[];
  readonly other: readonly string[];
}

/** One finished piece. */
export interface ProviderTrack {
  /** null: the core derives one from the prompt. */
  readonly title: string | null;
  readonly bpm: number | null;
  readonly tags: TrackTags;
  readonly assets: readonly ProviderAsset[];
}

/** What an attempt cost at the provider, where it tells. */
export interface ProviderCost {
  readonly amount: number;
  /** ISO 4217 code, or the provider's own unit in lower case (`credits`). */
  readonly unit: string;
}

/** Opaque to the core, stored as JSON; holds whatever later calls need. */
export interface ProviderHandle {
  /** Raised when a plugin changes what `data` means. */
  readonly version: number;
  readonly data: { readonly [key: string]: unknown };
}

export interface Completed {
  readonly state: "completed";
  /** In the provider's order; at least one. */
  readonly tracks: readonly ProviderTrack[];
  readonly cost?: ProviderCost;
}

export interface Accepted {
  readonly state: "accepted";
  readonly handle: ProviderHandle;
  readonly nextPollMs: number;
}

export interface Running {
  readonly state: "running";
  readonly nextPollMs: number;
  /** Replaces the stored handle when given. */
  readonly handle?: ProviderHandle;
}

/** `absent`: the provider is sure that the attempt never reached it. */
export type LookupOutcome = Accepted | Completed | { readonly state: "absent" };

/** Goes with every call. `signal` aborts when the process stops or the lease is lost. */
export interface CallContext {
  readonly signal: AbortSignal;
}

/** A started provider. Every failure is thrown as a {@link ProviderFailure}. */
export interface MusicProvider {
  /**
   * Starts the work.
   *
   * @returns `completed` with the tracks, or `accepted` with a handle that `poll` understands
   */
  submit(request: SubmitRequest, context: CallContext): Promise<Completed | Accepted>;
  /** Asks after accepted work. Needed by a provider whose `submit` answers `accepted`. A thrown `unavailable` or `timeout` means: ask again. */
  poll?(handle: ProviderHandle, context: CallContext): Promise<Running | Completed>;
  /** Finds the work of an attempt whose reply was lost. Needed where `capabilities.lookup` is true. */
  lookup?(attemptId: string, context: CallContext): Promise<LookupOutcome>;
  /** Tries to stop accepted work. Needed where `capabilities.cancel` is true. */
  cancel?(handle: ProviderHandle, context: CallContext): Promise<"cancelled" | "too_late">;
  /** Frees what `create` opened. */
  close?(): Promise<void>;
}

/** What the host gives a plugin. */
export interface ProviderHost {
  readonly settings: { readonly [name: string]: string | number | boolean | undefined };
  readonly fetch: typeof fetch;
  readonly clock: { now(): number; sleep(ms: number, signal?: AbortSignal): Promise<void> };
  readonly logger: {
    info(message: string, fields?: Record<string, unknown>): void;
    warn(message: string, fields?: Record<string, unknown>): void;
  };
}

export interface ProviderDefinition {
  /** Lower-case letters, digits and `-`; at most 30 characters. */
  readonly id: string;
  /** Shown as `provider_label`. */
  readonly label: string;
  readonly portVersion: number;
  /** How many submissions may run at once in one process. */
  readonly concurrency: number | ((settings: ProviderHost["settings"]) => number);
  /**
   * How many jobs one credential may have there at once, rendering ones included; all processes keep it together. `plugins.<id>.maxInFlight`
   * overrides it. Left out: no limit.
   */
  readonly maxInFlight?: number;
  readonly settings: { readonly [name: string]: ProviderSetting };
  readonly models: readonly ProviderModel[];
  readonly capabilities: ProviderCapabilities;
  create(host: ProviderHost): MusicProvider;
}

/** Types a definition; a plugin's default export is what this returns. */
export function defineProvider(definition: ProviderDefinition): ProviderDefinition {
  return definition;
}
