/** A server as its callers see it: members as in the JSON of the API. */
export interface CallerApi {
  profile(): Promise<{ readonly id: string; readonly account_tier: string }>;
  credits(): Promise<CallerCredits>;
  models(): Promise<readonly CallerModel[]>;
  search(query: CallerSearch): Promise<CallerFound>;
  /** Sent again under the same key while the response is lost, and charged once. */
  createGeneration(input: GenerationInput, key: string): Promise<AcceptedJob>;
  /** As {@link createGeneration}. */
  createSplit(trackId: string, kind: SplitKind, key: string): Promise<AcceptedJob>;
  job(id: string): Promise<CallerJob>;
  /** Follows the job to its end, over lost connections as well. @throws the reason of `signal` once it aborts */
  wait(id: string, options: WaitOptions): Promise<CallerJob>;
  /** Ends the job if nothing is bought yet, or if its provider confirms that it stops. */
  cancel(id: string): Promise<CancelledJob>;
  /** Events of the account's jobs in their order. @param after a cursor; undefined: the oldest that are kept */
  events(query: { readonly after?: string; readonly limit: number }): Promise<EventPage>;
}

/** A call that failed. */
export class CallerApiError extends Error {
  override readonly name = "CallerApiError";

  /**
   * @param code of the API; `network_error` where no response came
   * @param status of the response; null where none came, so that it is not known what became of the request
   */
  constructor(
    readonly code: string,
    readonly status: number | null,
    message: string,
    readonly details?: object,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

export type SplitKind = "stem_split" | "vocal_removal";

export interface CallerCredits {
  readonly available: number;
  readonly monthly_credits: number;
  readonly pack_credits: number;
  readonly total_spent: number;
}

/** What the command needs of a model; older servers leave out the members with a question mark. */
export interface CallerModel {
  readonly id: string;
  readonly name: string;
  readonly supports_lyrics: boolean;
  readonly supports_instrumental: boolean;
  readonly requires_lyrics?: boolean;
  readonly duration?: { readonly minimum: number; readonly maximum: number };
  readonly prompt_max_length?: number;
  readonly lyrics_max_length?: number;
  readonly credit_cost: number;
  readonly status: string;
  readonly options?: readonly {
    readonly name: string;
    readonly type: "integer" | "number" | "string" | "boolean";
  }[];
}

export interface GenerationInput {
  readonly model_id: string;
  readonly prompt: string;
  readonly lyrics?: string;
  readonly duration?: number;
  readonly instrumental?: boolean;
  readonly options?: { readonly [name: string]: string | number | boolean };
  readonly client: string;
}

export interface AcceptedJob {
  readonly id: string;
  readonly status: string;
  readonly credits_reserved: number;
}

export interface CallerOutput {
  readonly type: string;
  readonly label: string;
  readonly track_id: string | null;
  /** Signed: needs no key, and expires. */
  readonly url: string;
  readonly content_type: string;
  readonly size_bytes: number | null;
}

export interface CallerJob {
  readonly job_id: string;
  readonly operation: string;
  readonly status: "queued" | "processing" | "completed" | "failed";
  readonly credits_charged: number;
  readonly outputs: readonly CallerOutput[];
  readonly error?: { readonly code: string; readonly message: string; readonly details?: object };
}

export interface CancelledJob {
  /** `running`: it is bought, and its provider has not confirmed; `ended`: it had ended before. */
  readonly outcome: "cancelled" | "running" | "ended";
  readonly job: CallerJob;
}

/** How far a job is, as its events say. */
export interface CallerProgress {
  readonly state: "waiting" | "retrying" | "submitting" | "rendering" | "ended";
  readonly waiting_before: number | null;
  readonly percent: number | null;
  readonly ends_at: string | null;
}

export interface WaitOptions {
  onProgress(progress: CallerProgress): void;
  readonly signal: AbortSignal;
}

export interface CallerSearch {
  readonly q?: string | undefined;
  readonly mood?: string | undefined;
  readonly activity?: string | undefined;
  readonly limit: number;
}

export interface CallerTrack {
  readonly id: string;
  readonly title: string;
  readonly artist_label: string;
}

export interface CallerFound {
  readonly tracks: readonly CallerTrack[];
  readonly playlists: readonly { readonly id: string; readonly title: string; readonly track_count: number }[];
}

export interface CallerEvent {
  readonly id: string;
  /** What a webhook carries. */
  readonly body: {
    readonly type: string;
    readonly timestamp: string;
    readonly data: object;
  };
}

export interface EventPage {
  readonly events: readonly CallerEvent[];
  /** Where the next page begins; null where there was no event yet. */
  readonly next_cursor: string | null;
  readonly has_more: boolean;
}
