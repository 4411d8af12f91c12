/** Checks of values that came from outside: definitions of plugins, and config. */
import { MODEL_LIMITS } from "../ports/music-provider.js";

export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isText(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "";
}

export function isWhole(value: unknown, minimum: number, maximum = Number.MAX_SAFE_INTEGER): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= minimum && value <= maximum;
}

export const COST = "{ amount, unit }";

/** True for a ProviderCost. */
export function isCost(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { amount, unit, ...others } = value;
  const isAmount = typeof amount === "number" && Number.isFinite(amount) && amount >= 0;
  const isUnit = isText(unit) && unit.length <= MODEL_LIMITS.costUnitLength;
  return isAmount && isUnit && Object.keys(others).length === 0;
}

/** A value as an issue names it: as JSON where there is JSON for it, else its type. */
export function shown(value: unknown): string {
  if (value === undefined) return "missing";
  try {
    return JSON.stringify(value) ?? typeof value;
  } catch {
    // A BigInt, or an object that contains itself.
    return typeof value;
  }
}

/** True for a value that JSON gives back as it is. */
export function survivesJson(value: unknown): boolean {
  try {
    return isSame(value, JSON.parse(JSON.stringify(value)));
  } catch {
    return false;
  }
}

function isSame(one: unknown, other: unknown): boolean {
  if (typeof one !== "object" || one === null) return one === other;
  if (typeof other !== "object" || other === null || Array.isArray(one) !== Array.isArray(other)) return false;
  const [a, b] = [one as JsonObject, other as JsonObject];
  const names = Object.keys(a).filter((name) => a[name] !== undefined);
  return names.length === Object.keys(b).length && names.every((name) => isSame(a[name], b[name]));
}
