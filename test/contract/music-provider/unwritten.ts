import { ProviderFailure } from "../../../plugins/sdk/index.js";
import type { FirstTask } from "./harness.js";

/** Whether the function still fails as the one does that `fermata plugins new` writes. */
export function isUnwritten({ call }: FirstTask): boolean {
  try {
    call();
    return false;
  } catch (error) {
    return ProviderFailure.is(error) && error.providerCode === "not_written";
  }
}

/** The suite of a plugin whose first function is not written: one failing test without a stack, in place of all. */
export function describeUnwritten({ name, returns, next }: FirstTask): void {
  it(`has ${name}`, () => {
    const error = new Error(`${name} is not written yet: it returns ${returns}. ${next}.`);
    // Where the suite noticed it is of no use to the author.
    error.stack = error.message;
    throw error;
  });
}
