/** Why a provider could not do the work. The core's retry policy depends on this alone. */
export type ProviderFailureKind =
  /**
   * It refused for now (overload, maintenance, no connection). Nothing was accepted. Retried, then sent to a fallback,
   * then refunded.
   */
  | "unavailable"
  /** It asks for fewer requests. Nothing was accepted. Waited for, without counting against the provider or the job. */
  | "rate_limited"
  /**
   * It reported that it ran out of time. Nothing is still running there. Tried again when `submit` says so; the end of
   * work that was accepted.
   */
  | "timeout"
  /**
   * It refuses the operator's key, plan or region. Nothing was accepted. Work is kept away from it and the operator
   * notified.
   */
  | "misconfigured"
  /** The operator's account there has no credit left. As `misconfigured`. */
  | "out_of_credit"
  /**
   * It has not got the model, or the operation, any more. Nothing was accepted. Work for that model is kept away and
   * the operator notified; its other models continue.
   */
  | "model_unavailable"
  /** It refused the content of this request for good. */
  | "content_rejected"
  /**
   * It refuses this request for another reason than its content: a bug of the plugin's mapping, or a limit not
   * declared.
   */
  | "invalid_input"
  /** It tried and failed, or it will never do this request. */
  | "failed"
  /** The work was cancelled there. */
  | "cancelled"
  /** The work, or its files, are there no more. */
  | "gone"
  /** The request may or may not have been accepted: a lost reply. Never submitted again blindly. */
  | "outcome_unknown";

/** Whether a failed attempt costs money there. */
export type Billable = "yes" | "no" | "unknown";

export interface ProviderFailureOptions {
  /** How long it asks us to wait, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
  /** By default `no` where nothing was accepted, else `unknown`. */
  readonly billable?: Billable | undefined;
  /** Its own error code, for operators. */
  readonly providerCode?: string | undefined;
  /** Its own id of the request, to be quoted to its support. */
  readonly requestId?: string | undefined;
  /**
   * The error underneath. At a poll, `unavailable` with a cause is a connection that failed and counts against the
   * provider; without one it is a reply that says nothing of the job, and that job alone is polled again.
   */
  readonly cause?: unknown;
}

/** Kinds that say so. */
const NOT_ACCEPTED: ReadonlySet<ProviderFailureKind> = new Set([
  "unavailable",
  "rate_limited",
  "misconfigured",
  "out_of_credit",
  "model_unavailable",
]);

const FAILURE_BRAND = Symbol.for("fermata.provider-failure");

/**
 * The only error a provider may throw on purpose; anything else counts as `outcome_unknown` on submit and as
 * `unavailable` elsewhere.
 */
export class ProviderFailure extends Error {
  override readonly name = "ProviderFailure";
  readonly [FAILURE_BRAND] = true;
  /** null when it did not say. */
  readonly retryAfterMs: number | null;
  readonly billable: Billable;
  readonly providerCode: string | null;
  readonly requestId: string | null;

  /** @param message for operators, without secrets; callers of the API never see it */
  constructor(
    readonly kind: ProviderFailureKind,
    message: string,
    options: ProviderFailureOptions = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.retryAfterMs = options.retryAfterMs ?? null;
    this.billable = options.billable ?? (NOT_ACCEPTED.has(kind) ? "no" : "unknown");
    this.providerCode = options.providerCode ?? null;
    this.requestId = options.requestId ?? null;
  }

  /** True for a failure of any copy of this class; a plugin may carry its own. */
  static is(value: unknown): value is ProviderFailure {
    return typeof value === "object" && value !== null && FAILURE_BRAND in value;
  }
}
