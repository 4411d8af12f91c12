/**
 * The plugin port: what a music provider declares and does. Plugins get it through the SDK (`plugins/sdk`,
 * `fermata-music/provider` in a package of their own).
 *
 * A definition is data first (id, settings, models, capabilities), so that the host can list, check and document a
 * plugin without starting it; behaviour comes from `create`.
 */
import type { ProviderCapabilities, ProviderHost, ProviderModel, ProviderSetting } from "./provider/definition.js";
import type {
  Accepted,
  CancelOutcome,
  Completed,
  LookupOutcome,
  ParsedCallback,
  ProbeResult,
  ProviderHandle,
  ReceivedCallback,
  Snapshot,
} from "./provider/outcomes.js";
import type { ProviderFailure } from "./provider/failure.js";
import type { SubmitRequest } from "./provider/requests.js";

export type * from "./declared-settings.js";
export * from "./provider/assets.js";
export type * from "./provider/definition.js";
export * from "./provider/failure.js";
export * from "./provider/model-limits.js";
export type * from "./provider/outcomes.js";
export * from "./provider/references.js";
export * from "./provider/request-options.js";
export type * from "./provider/requests.js";
export type * from "./provider/sandbox.js";

/** Raised on every incompatible change of this port. A plugin that names another version stops the start. */
export const PROVIDER_PORT_VERSION = 2;

/** Goes with every call. `signal` aborts when the process stops or the lease is lost. */
export interface CallContext {
  readonly signal: AbortSignal;
}

/** A started provider. Every failure is thrown as a {@link ProviderFailure}. Selected by `plugins.<id>.use`. */
export interface MusicProvider {
  /**
   * Starts the work.
   *
   * @returns `completed` with the result, or `accepted` with a handle that `poll` understands
   * @throws {ProviderFailure} `outcome_unknown` as soon as the request may have been accepted and the response is not
   *   known: a reset connection, a reply cut off, a time-out after sending
   */
  submit(request: SubmitRequest, context: CallContext): Promise<Completed | Accepted>;
  /**
   * Polls accepted work. Needed by a provider whose `submit` returns `accepted`, unless it has `pollMany`.
   * `unavailable` and `rate_limited` mean: poll again; `timeout`: the work timed out at the provider and has ended.
   */
  poll?(handle: ProviderHandle, context: CallContext): Promise<Snapshot>;
  /**
   * Polls several works with one request, where the provider limits requests.
   *
   * @returns one for each handle, in their order
   */
  pollMany?(handles: readonly ProviderHandle[], context: CallContext): Promise<readonly (Snapshot | ProviderFailure)[]>;
  /**
   * Reads a callback that was sent to `callbackUrl`. Needed where `capabilities.callbacks` is `signed`; a `hints`
   * provider without it is polled at every callback.
   */
  parseCallback?(callback: ReceivedCallback, context: CallContext): Promise<ParsedCallback>;
  /** Finds the work of an attempt whose reply was lost. Needed where `capabilities.lookup` is true. */
  lookup?(attemptId: string, context: CallContext): Promise<LookupOutcome>;
  /** Tries to stop accepted work. Needed where `capabilities.cancel` is true. */
  cancel?(handle: ProviderHandle, context: CallContext): Promise<CancelOutcome>;
  /** Checks the key and reads the remaining credit, without starting work. */
  probe?(context: CallContext): Promise<ProbeResult>;
  /** Frees what `create` opened. */
  close?(): Promise<void>;
}

/** What a call of a plugin may have to do. */
export interface CallKind {
  /** Whether it is a submission with source audio, which may have to be uploaded. */
  readonly sendsSource: boolean;
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
   * How many jobs one credential may have there at once, rendering ones included; all processes keep it together.
   * `plugins.<id>.maxInFlight` overrides it. Left out: no limit.
   */
  readonly maxInFlight?: number;
  /**
   * The longest that one call may take, in whole milliseconds from 1,000 to 24 hours: the plugin's own time-outs, added
   * up where one call makes several requests. The host ends a call half a minute after that, even if the plugin ignores
   * the signal; and a call that cannot be repeated may be under way for so long after its worker was lost. 20 minutes
   * when left out.
   */
  readonly longestCallMs?: number | ((settings: ProviderHost["settings"], call: CallKind) => number);
  /**
   * Hosts that its calls and uploads go to, in addition to those of URLs in its settings: `api.example.com`,
   * `*.cdn.example.com` for all names below one. Every call elsewhere is refused as `misconfigured`;
   * `plugins.<id>.allowHosts` adds to them. Files that are given as a {@link UrlSource} need no entry. Left out: any
   * host, by https and at a public address.
   */
  readonly hosts?: readonly string[] | ((settings: ProviderHost["settings"]) => readonly string[]);
  readonly settings: { readonly [name: string]: ProviderSetting };
  /** May be empty: a provider that only splits, or one whose models the operator names. */
  readonly models: readonly ProviderModel[];
  /**
   * Whether a model of `models` exists with these settings, where a setting chooses between vendors or regions. Left
   * out: all exist. Models that the operator adds are not asked about.
   */
  offersModel?(model: ProviderModel, settings: ProviderHost["settings"]): boolean;
  /** What is wrong with a model of the operator's, for this plugin; null when nothing is. */
  checkModel?(model: ProviderModel): string | null;
  readonly capabilities: ProviderCapabilities | ((settings: ProviderHost["settings"]) => ProviderCapabilities);
  create(host: ProviderHost): MusicProvider;
}
