const DAY_MS = 86_400_000;
const TIME_LENGTH = "00:00:00.000Z".length;

/** The day that was written last, with the `T` behind it: most times of a page are of a few days. */
let last = { day: Number.NaN, text: "" };

/**
 * Milliseconds since 1970 as the API writes them: UTC, to the millisecond. The same as `toISOString` of a `Date`, in a
 * fraction of its time.
 */
export function timestamp(ms: number): string {
  const day = Math.floor(ms / DAY_MS);
  if (day !== last.day) last = { day, text: new Date(day * DAY_MS).toISOString().slice(0, -TIME_LENGTH) };
  const time = Math.trunc(ms) - day * DAY_MS;
  const [hours, minutes] = [Math.trunc(time / 3_600_000), Math.trunc(time / 60_000) % 60];
  const seconds = `${padded(Math.trunc(time / 1_000) % 60)}.${time % 1_000 < 100 ? "0" : ""}${padded(time % 1_000)}`;
  return `${last.text}${padded(hours)}:${padded(minutes)}:${seconds}Z`;
}

/** With two digits at least. */
function padded(value: number): string {
  return value < 10 ? `0${value}` : String(value);
}

/** Seconds with at most 3 decimals. */
export function seconds(value: number | null): number | null {
  return value === null ? null : Math.round(value * 1000) / 1000;
}
