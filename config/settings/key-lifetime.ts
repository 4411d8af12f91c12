import { refusedLine } from "./issues.js";

/**
 * A job never outlives its key, or the repeat of a request would start a second job, and be charged, while the first
 * one is alive.
 *
 * @param deadlineMinutes by the paths of the settings; a job lives as long as all of them together
 */
export function keyLifetimeIssues(deadlineMinutes: Readonly<Record<string, number>>, ttlHours: number): string[] {
  const longest = Object.values(deadlineMinutes).reduce((sum, minutes) => sum + minutes, 0);
  const ttlMinutes = ttlHours * 60;
  if (longest <= ttlMinutes) return [];
  const reason = `since idempotency.ttlHours is ${ttlHours}: a job never outlives its idempotency key`;
  const allowed = `at most ${ttlMinutes} minutes, ${reason}`;
  return [refusedLine(Object.keys(deadlineMinutes).join(" + "), null, longest, allowed, false)];
}
