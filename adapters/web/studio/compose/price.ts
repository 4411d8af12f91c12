import { wholeNumber } from "../../parts/format.js";

export function priceOf(credits: number): string {
  return credits === 1 ? "1 credit" : `${wholeNumber(credits)} credits`;
}
