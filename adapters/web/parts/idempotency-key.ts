/**
 * An Idempotency-Key of its own for a request. Also where the page is served over plain http by another machine, where
 * `crypto.randomUUID` is not there.
 */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
