/** A provider's response, its body read whole and within the limit. */
export interface ApiResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array;
  /** The body as text. */
  text(): string;
  /** The body as JSON; undefined when it is not JSON. */
  json(): unknown;
}

export interface ApiCall {
  readonly method?: "GET" | "POST" | "PUT" | "DELETE";
  /** Appended to the base URL, with its query; or a whole URL of the same origin, as some responses name. */
  readonly path: string;
  readonly headers?: { readonly [name: string]: string };
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent unchanged, instead of `json`. */
  readonly body?: Uint8Array<ArrayBuffer> | FormData | ReadableStream<Uint8Array>;
  /**
   * True for a call that starts billed work: an error after which the request may have been accepted is then
   * `outcome_unknown`, never a failure that is retried.
   */
  readonly creates?: boolean;
  /**
   * True for a call that polls accepted work: a response that does not say that the work ended (a gateway's page, a
   * redirect, a refusal of the poll) is then `unavailable`, never a failure that gives up work that is paid for. So is
   * one that has not begun after a minute.
   */
  readonly isStatusCall?: boolean;
  readonly signal: AbortSignal;
  /** Overrides the client's own. */
  readonly timeoutMs?: number;
  /** Overrides the client's own. */
  readonly maxBytes?: number;
}
