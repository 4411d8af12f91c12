import { OperationRefusedError } from "../errors.js";
import { withoutControls } from "../printable.js";

export const NAME_MAX_LENGTH = 100;

/**
 * @returns the name as it is stored, in one line and without control characters
 * @throws {OperationRefusedError} as {@link checkLength}, with 100 characters at most
 */
export function checkedName(what: string, given: string): string {
  const name = withoutControls(given);
  checkLength(what, name, NAME_MAX_LENGTH);
  return name;
}

/** @throws {OperationRefusedError} fewer than 1 or more than `maximum` characters, or half a surrogate pair */
export function checkLength(what: string, text: string, maximum: number): void {
  const length = [...text].length;
  if (length < 1 || length > maximum || !text.isWellFormed()) {
    throw new OperationRefusedError(`${what} has 1 to ${maximum} characters; got ${length}.`);
  }
}
