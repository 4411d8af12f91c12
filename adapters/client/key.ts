/**
 * A new Idempotency-Key of 128 random bits. Also where a page is served over plain http by another machine, where
 * `crypto.randomUUID` is not there.
 */
export function newIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
