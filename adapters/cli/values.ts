import { InvalidArgumentError } from "commander";
import { OperationRefusedError } from "../../core/errors.js";
import { isPeriod } from "../../core/credits/renewal-period.js";

/** A whole number from 0 on. @throws {InvalidArgumentError} */
export function wholeNumber(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value)) throw new InvalidArgumentError("Allowed: a whole number.");
  return value;
}

/** A number from 0 on. @throws {InvalidArgumentError} */
export function decimal(text: string): number {
  if (!/^\d{1,9}(\.\d{1,9})?$/.test(text)) throw new InvalidArgumentError("Allowed: a number such as 12.5.");
  return Number(text);
}

/** A whole number within bounds. */
export function wholeNumberWithin(minimum: number, maximum: number): (text: string) => number {
  return (text) => {
    const value = wholeNumber(text);
    if (value < minimum || value > maximum) throw new InvalidArgumentError(`Allowed: ${minimum} to ${maximum}.`);
    return value;
  };
}

/** A month, written `2026-11`. @throws {InvalidArgumentError} */
export function month(text: string): string {
  if (!isPeriod(text)) throw new InvalidArgumentError("Allowed: a month such as 2026-11.");
  return text;
}

const MOMENT = /^(\d{4}-\d\d-\d\d)(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/;
const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A time in ISO 8601, of which a date alone is its first moment in UTC. @throws {InvalidArgumentError} */
export function moment(text: string): number {
  const time = Date.parse(text);
  if (Number.isNaN(time)) throw new InvalidArgumentError("Allowed: a time such as 2026-11-20T00:00:00Z.");
  return time;
}

const EXPIRIES = "a span such as 90d, 12h or 30m, of at least 1m, or a time to come such as";

/**
 * The value of `--expires`: a time in ISO 8601, or a span from now on such as `90d`.
 *
 * @returns the time, by what time it is now; it throws an OperationRefusedError for one that is over
 * @throws {InvalidArgumentError} it is neither
 */
export function expiry(text: string): (now: number) => number {
  const [, count, unit = ""] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  const spanMs = count === undefined ? null : Number(count) * (UNIT_MS[unit] as number);
  if (spanMs === 0 || (spanMs === null && !MOMENT.test(text)))
    throw new InvalidArgumentError(`Allowed: ${EXPIRIES} 2030-01-31T00:00:00Z.`);
  if (spanMs !== null) return (now) => now + spanMs;
  const time = moment(text);
  return (now) => {
    if (time > now) return time;
    const example = new Date(now + (UNIT_MS["d"] as number)).toISOString();
    throw new OperationRefusedError(`--expires ${text} is not in the future. Allowed: ${EXPIRIES} ${example}.`);
  };
}

/** Adds `name=value` to those before it. @throws {InvalidArgumentError} */
export function namedValue(text: string, before: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const at = text.indexOf("=");
  if (at < 1) throw new InvalidArgumentError("Allowed: name=value, such as seed=42.");
  const name = text.slice(0, at);
  if (before.has(name)) throw new InvalidArgumentError(`${name} is given twice.`);
  return new Map([...before, [name, text.slice(at + 1)]]);
}
