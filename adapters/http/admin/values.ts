import { InvalidRequestError } from "../../../core/errors.js";
import { parseDateTime } from "../date-time.js";

type Defined<T> = { [M in keyof T]?: Exclude<T[M], undefined> };

/** The members that are not undefined. */
export function defined<T extends object>(given: T): Defined<T> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Defined<T>;
}

/** A moment in milliseconds since 1970. @throws {InvalidRequestError} it is not written as RFC 3339 has it */
export function dateTime(path: string, given: string): number {
  const time = parseDateTime(given);
  if (time !== null) return time;
  const message = "must be a date-time of RFC 3339, such as 2026-11-21T06:30:00Z (a + is sent as %2B)";
  throw new InvalidRequestError([{ path, message }]);
}
