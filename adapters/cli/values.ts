import { InvalidArgumentError } from "commander";

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
