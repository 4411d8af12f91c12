/** What a provider answered: read whole, never more than the limit. */
export interface ApiAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array;
  /** The body as text. */
  text(): string;
  /** The body as JSON; undefined when it is none. */
  json(): unknown;
}

export interface ApiCall {
  readonly method?: "GET" | "POST" | "PUT" | "DELETE";
  /** Below the base, with its query; or a whole URL of the same origin, as providers hand out for status and cancel. */
  readonly path: string;
  readonly headers?: { readonly [name: string]: string };
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as it is. */
  readonly body?: Uint8Array<ArrayBuffer> | FormData | ReadableStream<Uint8Array>;
  /**
   * True for a call that makes billed work: then whatever leaves open whether it arrived is `outcome_unknown`, never a failure that is
   * tried again.
   */
  readonly creates?: boolean;
  /**
   * True for a call that asks after accepted work: then an answer that does not say that the work ended (a gateway's page, a redirect, a
   * refusal of the question) is `unavailable`, never a failure that gives up what is paid for.
   */
  readonly asksAfter?: boolean;
  readonly signal: AbortSignal;
  /** In place of the client's own. */
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
}
