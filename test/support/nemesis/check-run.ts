import { checkCreditReads, checkGrants } from "./rules/credits.js";
import { checkEvents } from "./rules/events.js";
import { checkAcknowledged, checkAskedFor, checkKeys, checkLists, checkRefused, checkResponses } from "./rules/keys.js";
import { checkEnds, checkLeft } from "./rules/ends.js";
import { checkCharges, checkPurchases, checkWaste } from "./rules/work.js";
import { type Entry, lineOf, seenIn } from "./history.js";
import { type CheckedRun, grouped, type Rule, type Violation } from "./rules/rule.js";

/** What holds of every run, by the name that a violation has. */
export const RULES = {
  // First in a report: what has not ended breaks other rules, too.
  "everything ends after healing": checkLeft,
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

/** Violations of each rule that a report shows, and lines of history for each. */
const VIOLATIONS_MAX = 2;
const LINES_MAX = 25;

/** For people: every rule that is violated, with the entries of the history that show it. */
export function reportOf(violations: readonly FoundViolation[]): string {
  const lines = [...grouped(violations, ({ rule }) => rule)].flatMap(([rule, all]) => [
    `${rule}: ${all.length} times`,
    ...all
      .slice(0, VIOLATIONS_MAX)
      .flatMap(({ message, history, jobId }) => [
        `  ${message}`,
        ...linesOf(history, jobId).map((line) => `    ${line}`),
      ]),
  ]);
  return [`${violations.length} violations`, ...lines].join("\n");
}

/** What the same client sees again and again is shown once. */
function linesOf(history: readonly Entry[], jobId: string | undefined): string[] {
  const shown = history.filter((entry, index) => {
    const before = history[index - 1];
    return before === undefined || whatOf(entry, jobId) !== whatOf(before, jobId);
  });
  const left = Math.max(0, shown.length - LINES_MAX);
  const lines = shown.slice(0, LINES_MAX).map((entry) => lineOf(entry, jobId));
  return left > 0 ? [...lines, `and ${left} more`] : lines;
}

function whatOf(entry: Entry, jobId: string | undefined): string {
  const { action, outcome, status } = entry;
  const seen = jobId === undefined ? [] : seenIn(entry).filter(({ id }) => id === jobId);
  const isRead = action.kind === "get" || action.kind === "list";
  return JSON.stringify([isRead ? "read" : action, outcome, status, seen]);
}
