import { AssertionError } from "chai";

/** Fails with every mistake on a line of its own: an assertion library would shorten the list. */
export function expectNone(mistakes: readonly string[], what: string): void {
  if (mistakes.length > 0) throw new AssertionError([`${what}:`, ...mistakes].join("\n  - "));
}
