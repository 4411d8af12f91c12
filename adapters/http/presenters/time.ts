/** Milliseconds since 1970 as the API writes them: UTC, to the millisecond. */
export function timestamp(ms: number): string {
  return new Date(ms).toISOString();
}

/** Seconds with at most 3 decimals. */
export function seconds(value: number | null): number | null {
  return value === null ? null : Math.round(value * 1000) / 1000;
}
