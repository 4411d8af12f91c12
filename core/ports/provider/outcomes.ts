import type { ProviderAsset, ProviderTrack } from "./assets.js";
import type { ProviderFailure } from "./failure.js";

/** The cost of an attempt, where the provider reports it. */
export interface ProviderCost {
  readonly amount: number;
  /** ISO 4217 code, or the provider's own unit in lower case (`credits`, `minutes`). */
  readonly unit: string;
}

/**
 * Opaque to the core, stored as JSON; holds the data that later calls need, in 16 KiB at most. `accepted` with a larger
 * one counts as a submission of unknown outcome; a larger one that replaces another is left out, and the other stays.
 */
export interface ProviderHandle {
  /** Raised when a plugin changes what `data` means. */
  readonly version: number;
  readonly data: { readonly [key: string]: unknown };
}

export interface Completed {
  readonly state: "completed";
  /** A generation's tracks in the provider's order, at least one; `[]` for a split. */
  readonly tracks: readonly ProviderTrack[];
  /** A split's parts, role `stem`, at least one; left out for a generation. */
  readonly stems?: readonly ProviderAsset[];
  readonly cost?: ProviderCost;
  /** Of a callback alone: replaces the stored handle, by which the files are asked for again when a link is dead. */
  readonly handle?: ProviderHandle;
}

export interface Accepted {
  readonly state: "accepted";
  readonly handle: ProviderHandle;
  readonly nextPollMs: number;
}

/** How far accepted work is, in the provider's own words; a member is left out where it says nothing of it. */
export interface ProviderProgress {
  /** From 0 to 100; fractions are cut off. */
  readonly percent?: number;
  /** How many works are before it in the provider's queue: 0 when it is next. */
  readonly queuePosition?: number;
}

export interface Running {
  readonly state: "running";
  readonly nextPollMs: number;
  /** Shown to the account and to operators. */
  readonly progress?: ProviderProgress;
  /** Replaces the stored handle when given. */
  readonly handle?: ProviderHandle;
}

/** The state of accepted work; a failure may be returned or, where only one handle was polled, thrown. */
export type Snapshot = Running | Completed;

/** `absent`: the provider is sure that the attempt never reached it. */
export type LookupOutcome = Accepted | Completed | { readonly state: "absent" };

/** `requested`: it may or may not stop in time. */
export type CancelOutcome = "cancelled" | "requested" | "too_late";

/** What the job of a callback asked for. */
export interface CallbackRequest {
  readonly operation: "music" | "stem_split" | "vocal_removal";
  /** Of the generation; null for a split. */
  readonly modelId: string | null;
}

/**
 * A callback as it came in. Its address was checked: only a sender that knows `callbackUrl` of this job can have sent
 * it, or seen it on the way.
 */
export interface ReceivedCallback {
  /** Names in lower case. */
  readonly headers: { readonly [name: string]: string };
  readonly query: { readonly [name: string]: string };
  readonly body: Uint8Array;
  /** Milliseconds since 1970. */
  readonly receivedAt: number;
  /**
   * What `submit` or a later poll left. When the submission's reply was lost it is `{ version: 0, data: {} }`: what a
   * plugin can conclude from the callback alone still counts; for anything else it may throw or return a hint. A
   * verified snapshot then carries the handle that `submit` would have left ({@link Running.handle},
   * {@link Completed.handle}), where it is known: with `running` the work counts as accepted and is polled.
   */
  readonly handle: ProviderHandle;
  /** What was asked for, which a plugin may need when the handle was lost. Left out by a host of before this member. */
  readonly request?: CallbackRequest;
}

/**
 * What a callback is worth. `verified`: a signature over the raw body held; the snapshot counts as if it had been
 * polled. `hint`: something happened; the work is polled at once. `forged`: a signature that had to be there did not
 * hold; nothing follows.
 */
export type ParsedCallback =
  | { readonly trust: "verified"; readonly snapshot: Snapshot | ProviderFailure }
  | { readonly trust: "hint" }
  | { readonly trust: "forged"; readonly reason: string };

/** The result of a probe: whether the key works, and the remaining credit where the provider reports it. */
export interface ProbeResult {
  /** In the provider's own unit; null when it is not reported. */
  readonly credit: ProviderCost | null;
  /** Anything an operator should read; `[]` when all is well. */
  readonly warnings: readonly string[];
}
