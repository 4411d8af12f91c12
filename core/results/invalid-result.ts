import { ProviderFailure } from "../ports/music-provider.js";

/** More issues of one result are not named. */
const NAMED_MAX = 3;

/**
 * A plugin returned a result that the host cannot use. Of `submit` it counts as `outcome_unknown`, because the work may
 * be bought; of any other call as `unavailable`, because asking again buys nothing.
 */
export class InvalidResultFailure extends ProviderFailure {
  /** @param issues the members that are wrong, each with what is allowed */
  constructor(providerId: string, call: string, issues: readonly string[]) {
    const named = issues.slice(0, NAMED_MAX).join("; ");
    const message = `The plugin ${providerId} returned from ${call} what the host cannot use: ${named}.`;
    super(call === "submit" ? "outcome_unknown" : "unavailable", message, { billable: "unknown" });
  }
}
