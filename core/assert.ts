/** A promise of this code to itself was broken. Outside it is `internal_error`. */
export class AssertionError extends Error {
  override readonly name = "AssertionError";
}

/** Guards what only a bug can break; catalogue errors are for what a caller can cause. */
export function assert(condition: unknown, promise: string): asserts condition {
  if (!condition) throw new AssertionError(`Broken promise: ${promise}`);
}
