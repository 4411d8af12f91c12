import type { RequestIssue } from "../../core/errors.js";

const DATE_TIME = /^(\d{4}-\d{2}-\d{2})[Tt]((?:[01]\d|2[0-3]):\d{2}:\d{2})(?:\.(\d{1,20}))?([Zz]|[+-]\d{2}:\d{2})$/;

/**
 * A date-time of RFC 3339 in milliseconds since 1970; what is finer is rounded up, so that "from" and "before" stay
 * true of times in whole milliseconds. null when the text is none, or names a day that there is not.
 */
export function parseDateTime(text: string): number | null {
  const [, date = "", time = "", fraction = "", zone = ""] = DATE_TIME.exec(text) ?? [];
  const wholeSeconds = Date.parse(`${date}T${time}${zone.toUpperCase()}`);
  if (Number.isNaN(wholeSeconds) || !isDay(date)) return null;
  return wholeSeconds + Math.ceil(Number(`0.${fraction}0`) * 1000);
}

/** The parser turns the 31st of February into a day of March. */
function isDay(date: string): boolean {
  const midnight = Date.parse(`${date}T00:00:00Z`);
  return !Number.isNaN(midnight) && new Date(midnight).toISOString().startsWith(date);
}

/** The moment that a query parameter names; what is wrong with it goes to `issues`. */
export function momentOf(name: string, text: string | undefined, issues: RequestIssue[]): number | undefined {
  if (text === undefined) return undefined;
  const moment = parseDateTime(text);
  if (moment !== null) return moment;
  issues.push({
    path: `query.${name}`,
    message: "must be a date-time of RFC 3339, such as 2026-11-21T06:30:00Z (a + is sent as %2B)",
  });
  return undefined;
}
