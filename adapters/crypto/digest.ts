import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { Digest } from "../../core/ports/digest.js";

/** Node's own cryptography (OpenSSL). */
export class NodeDigest implements Digest {
  sha256(data: string | Uint8Array): string {
    return createHash("sha256").update(data).digest("hex");
  }

  hmacSha256(key: string | Uint8Array, text: string): string {
    return createHmac("sha256", key).update(text, "utf8").digest("base64url");
  }

  equals(left: string, right: string): boolean {
    // Hashes are compared, since `timingSafeEqual` takes equal lengths only.
    return timingSafeEqual(hash(left), hash(right));
  }
}

function hash(text: string): Buffer {
  return createHash("sha256").update(text, "utf8").digest();
}
