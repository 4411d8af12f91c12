import { type CheckResult, ok, warning } from "../core/ports/self-check.js";
import type { KeyState } from "../core/secrets/key-state.js";

const DAY_MS = 86_400_000;
/** Longer than any link lives by default: 96 hours for those in webhooks. */
const TWO_KEYS_MAX_DAYS = 7;

/** Whether a rotation of the secret key was begun and never finished. @param state null: no key has been used yet */
export function rotationResult(state: KeyState | null, now: number): CheckResult {
  const name = "secret key rotation";
  const previous = state?.previous ?? null;
  if (previous === null) return ok(name, "One secret key is in force.");
  const days = Math.floor((now - (state?.rotatedAt ?? now)) / DAY_MS);
  if (days < TWO_KEYS_MAX_DAYS) return ok(name, `Two secret keys are in force, since less than ${days + 1} days.`);
  const actor = `anyone with the old one, ${previous}, can still sign links`;
  const message = `Two secret keys have been in force for ${days} days: ${actor}.`;
  return warning(name, message, "Finish the rotation: `fermata secrets retire`.");
}
