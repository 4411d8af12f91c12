import { checkCreditReads, checkGrants } from "./rules/credits.js";
import { checkEvents } from "./rules/events.js";
import { checkAcknowledged, checkAskedFor, checkKeys, checkLists, checkRefused, checkResponses } from "./rules/keys.js";
import { checkEnds, checkLeft } from "./rules/ends.js";
import { checkCharges, checkPurchases, checkWaste } from "./rules/work.js";
import { lineOf } from "./history.js";
import type { CheckedRun, Rule, Violation } from "./rules/rule.js";

/** What holds of every run, by the name that a violation has. */
export const RULES = {
  "an acknowledged job is there": checkAcknowledged,
  "a key has one job, and one response": checkKeys,
  "what was refused has no job": checkRefused,
  "a job was asked for": checkAskedFor,
  "a list has what was acknowledged": checkLists,
  "a response is one of those that a client expects": checkResponses,
  "a job is charged or refunded once": checkCharges,
  "a job is bought once": checkPurchases,
  "what was bought is delivered": checkWaste,
  "a credit read is consistent with the ledger": checkCreditReads,
  "a grant is made once": checkGrants,
  "an end is final": checkEnds,
  "everything ends after healing": checkLeft,
  "every receiver gets every event, of the right state": checkEvents,
} as const satisfies Readonly<Record<string, Rule>>;

export type RuleName = keyof typeof RULES;

export interface FoundViolation extends Violation {
  readonly rule: RuleName;
}

/** @returns what is wrong; empty when nothing is */
export function checkRun(run: CheckedRun): FoundViolation[] {
  return Object.entries(RULES).flatMap(([rule, check]) =>
    check(run).map((violation) => ({ rule: rule as RuleName, ...violation })),
  );
}

/** Violations that a report shows, and lines of history for each. */
const VIOLATIONS_MAX = 8;
const LINES_MAX = 25;

/** For people: every rule that is violated, with the entries of the history that show it. */
export function reportOf(violations: readonly FoundViolation[]): string {
  const shown = violations.slice(0, VIOLATIONS_MAX).flatMap(({ rule, message, jobId, history }) => {
    const lines = history.map((entry) => `    ${lineOf(entry, jobId)}`);
    const left = Math.max(0, lines.length - LINES_MAX);
    return [`${rule}: ${message}`, ...lines.slice(0, LINES_MAX), ...(left > 0 ? [`    and ${left} more`] : [])];
  });
  const counts = new Map<string, number>();
  for (const { rule } of violations) counts.set(rule, (counts.get(rule) ?? 0) + 1);
  const sums = [...counts].map(([rule, count]) => `  ${count} times: ${rule}`);
  return [`${violations.length} violations:`, ...sums, ...shown].join("\n");
}
