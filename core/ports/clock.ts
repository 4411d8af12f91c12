/**
 * Time. All times are milliseconds since 1970-01-01T00:00Z. What is stored, and what is compared with it, goes by one
 * clock that all processes on a storage share. Replaced through the override `clock` of `compose`.
 */
export interface Clock {
  /** Whole milliseconds. */
  now(): number;
  /** Resolves after `ms`, or at once when `signal` aborts; it never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}
