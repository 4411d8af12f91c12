const NUMBER = new Intl.NumberFormat("en");
const MOMENT = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "medium" });

/** `12,345`. */
export function wholeNumber(value: number): string {
  return NUMBER.format(value);
}

/** `Nov 25, 2026, 3:06:34 AM`, in the reader's time zone. @param at a date-time of the API */
export function moment(at: string): string {
  return MOMENT.format(new Date(at));
}

/** `0:30`, or `1:02:03` from an hour on. Rounded: the length that was asked for is seldom met to the millisecond. */
export function clockTime(seconds: number): string {
  const whole = Math.round(seconds);
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const two = (value: number): string => String(value).padStart(2, "0");
  return hours === 0 ? `${minutes}:${two(rest)}` : `${hours}:${two(minutes)}:${two(rest)}`;
}
