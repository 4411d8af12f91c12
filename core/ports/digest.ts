/** Hashes of bytes, and of text as UTF-8. Replaced through the override `digest` of `compose`. */
export interface Digest {
  /** SHA-256, 64 lower-case hexadecimal digits. */
  sha256(data: string | Uint8Array): string;
  /** HMAC-SHA-256 (RFC 2104), base64url without padding. */
  hmacSha256(key: string | Uint8Array, text: string): string;
  /** Compares two texts in a time that does not depend on where they differ. */
  equals(left: string, right: string): boolean;
}
