import type { WebhookFailure } from "../../../core/ports/webhook-sender.js";

const EXCERPT_CHARACTERS_MAX = 1_024;
const LOCATION_CHARACTERS_MAX = 200;

/** RFC 9110, 5.6.7: the form in use, and the two that a recipient still has to understand. */
const HTTP_DATES = [
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/,
  /^(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/,
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/,
] as const;

/** Line breaks and tabs stay. The others drive terminals, or turn the direction of writing around. */
// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const HARMFUL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** The class of a status; null for success. Statuses outside HTTP's range are protocol errors. */
export function failureOf(status: number): WebhookFailure | null {
  if (status === 410) return "gone";
  switch (Math.floor(status / 100)) {
    case 2:
      return null;
    case 3:
      return "redirect";
    case 4:
      return "http_4xx";
    case 5:
      return "http_5xx";
    default:
      return "protocol";
  }
}

/**
 * `Retry-After` in milliseconds from `now`; null when there is none, or none that can be read. A date that is past asks
 * for no wait.
 */
export function retryAfterMs(value: string | null, now: number): number | null {
  const text = value?.trim() ?? "";
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1000, Number.MAX_SAFE_INTEGER);
  if (!HTTP_DATES.some((form) => form.test(text))) return null;
  const at = Date.parse(text.endsWith("GMT") ? text : `${text} GMT`);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}

/** The beginning of a body made printable, of any bytes. */
export function excerptOf(body: Buffer): string {
  if (body.length === 0) return "";
  const text = body.toString("utf8").replace(/\r\n?/g, "\n").replace(HARMFUL, "\ufffd");
  // A character may be two units; then counting takes longer.
  return text.length <= EXCERPT_CHARACTERS_MAX ? text : [...text].slice(0, EXCERPT_CHARACTERS_MAX).join("");
}

/** The message for operators about a response other than success. */
export function refusalOf(status: number, location: string | null): string {
  if (failureOf(status) !== "redirect" || location === null) return `The receiver returned ${status}.`;
  // What follows a question mark may be a token.
  const place = location
    .replace(/[?#].*$/s, "")
    .replace(/[^\x20-\x7e]/g, "?")
    .slice(0, LOCATION_CHARACTERS_MAX);
  return `The receiver returned ${status} and points to ${place}; redirects are not followed.`;
}
