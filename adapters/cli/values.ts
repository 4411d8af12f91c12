import { InvalidArgumentError } from "commander";
import { isPeriod } from "../../core/credits/renewal-period.js";

/** A whole number from 0 on. @throws {InvalidArgumentError} */
export function wholeNumber(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value)) throw new InvalidArgumentError("Allowed: a whole number.");
  return value;
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
