import { AssertionError } from "chai";

/** Fails with every issue on a line of its own: an assertion library would shorten the list. */
export function expectNone(issues: readonly string[], what: string): void {
  if (issues.length > 0) throw new AssertionError([`${what}:`, ...issues].join("\n  - "));
}
