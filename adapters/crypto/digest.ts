import { createHmac, hash, timingSafeEqual } from "node:crypto";
import type { Digest } from "../../core/ports/digest.js";
import { ShortHmac } from "./short-hmac.js";

/** Node's own cryptography (OpenSSL). */
export class NodeDigest implements Digest {
  /** By the bytes of a key: each is prepared once. */
  private readonly hmacs = new WeakMap<Uint8Array, ShortHmac>();

  sha256(data: string | Uint8Array): string {
    return hash("sha256", data, "hex");
  }

  hmacSha256(key: string | Uint8Array, text: string): string {
    const short = typeof key === "string" || !ShortHmac.takes(key, text) ? null : this.hmacOf(key);
    return short === null ? createHmac("sha256", key).update(text, "utf8").digest("base64url") : short.sha256(text);
  }

  equals(left: string, right: string): boolean {
    // Hashes are compared, since `timingSafeEqual` takes equal lengths only.
    return timingSafeEqual(hash("sha256", left, "buffer"), hash("sha256", right, "buffer"));
  }

  private hmacOf(key: Uint8Array): ShortHmac {
    let hmac = this.hmacs.get(key);
    if (hmac === undefined) this.hmacs.set(key, (hmac = new ShortHmac(key)));
    return hmac;
  }
}
