/** From a moment on, and before another one; milliseconds since 1970. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Authenticated requests that arrived. */
export interface RequestActivity {
  readonly total: number;
  /** Those that a rate limit refused (429). */
  readonly refused: number;
  /** Other statuses from 400 to 499. */
  readonly clientErrors: number;
  /** Statuses of 500 and above. */
  readonly serverErrors: number;
}

export interface JobActivity {
  readonly accepted: number;
  readonly completed: number;
  readonly failed: number;
}

/** Whole credits that moved; none is negative. */
export interface CreditActivity {
  readonly granted: number;
  /** What renewals added. */
  readonly renewed: number;
  /** What renewals took away. */
  readonly expired: number;
  readonly reserved: number;
  readonly charged: number;
  readonly refunded: number;
}

/** Attempts at a provider that ended. */
export interface ProviderActivity {
  readonly providerId: string;
  /** Those that their job completed with. */
  readonly delivered: number;
  /** Those that the provider refused, or ended without a result. */
  readonly failed: number;
  /** Those that were bought without a result for their job, for any reason. */
  readonly wasted: number;
}

/** What happened in a span of time, in all accounts together. */
export interface Activity {
  readonly requests: RequestActivity;
  readonly jobs: JobActivity;
  readonly credits: CreditActivity;
  /** Those with attempts that ended, in alphabetical order. */
  readonly providers: readonly ProviderActivity[];
}

/** Sums up what other stores hold; it stores nothing itself. Selected by `storage.url`. */
export interface ActivityStore {
  /** What happened in this span, as last committed. It reads no more than what happened in it. */
  activityIn(span: Span): Promise<Activity>;
}
