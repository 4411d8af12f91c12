/** Time. All times are milliseconds since 1970-01-01T00:00Z. */
export interface Clock {
  now(): number;
  /** Resolves after `ms`, or at once when `signal` aborts; it never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}
