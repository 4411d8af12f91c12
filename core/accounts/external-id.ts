import { OperationRefusedError } from "../errors.js";
import { printable } from "../printable.js";

const LENGTH_MAX = 255;

/**
 * @returns the id, unchanged
 * @throws {OperationRefusedError} it is not 1 to 255 printable characters, or a space is at one of its ends
 */
export function checkedExternalId(id: string): string {
  if (isExternalId(id)) return id;
  throw new OperationRefusedError(
    `An external id has 1 to ${LENGTH_MAX} printable characters and no space at its ends; got ${JSON.stringify(id)}.`,
  );
}

/** Whether an account can have it: compared character by character, upper and lower case are not the same. */
export function isExternalId(id: string): boolean {
  const { length } = [...id];
  return length >= 1 && length <= LENGTH_MAX && printable(id) === id && id.trim() === id;
}
