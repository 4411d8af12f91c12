import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import type { SecretBox } from "../../core/ports/secret-box.js";

const VERSION = "v1";
const CIPHER = "aes-256-gcm";
const KEY_BYTES = 32;
/** For random nonces NIST SP 800-38D allows 2^32 texts under one key. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Keeps the key apart from whatever else is derived from the installation's secret. */
const PURPOSE = "fermata secret box v1";

/**
 * AES-256-GCM under a key derived from the installation's secret key (HKDF-SHA256). A sealed text is `v1.` and, in base64url, nonce, ciphertext and
 * tag; its length tells the length of the text, nothing else.
 */
export class AesSecretBox implements SecretBox {
  private readonly key: Uint8Array;

  constructor(secretKey: string) {
    this.key = new Uint8Array(hkdfSync("sha256", secretKey, "", PURPOSE, KEY_BYTES));
  }

  seal(text: string, context: string): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.key, nonce).setAAD(Buffer.from(context, "utf8"));
    const parts = [nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()];
    return `${VERSION}.${Buffer.concat(parts).toString("base64url")}`;
  }

  open(sealed: string, context: string): string {
    const [version, encoded = "", ...others] = sealed.split(".");
    if (version !== VERSION || others.length > 0) throw new Error(`A sealed secret is not of the form ${VERSION}.…`);
    const bytes = Buffer.from(encoded, "base64url");
    // Decoding passes over what is no base64: only one spelling of each sealed text is taken.
    if (bytes.length < NONCE_BYTES + TAG_BYTES || bytes.toString("base64url") !== encoded) throw new Error("A sealed secret is cut off or garbled.");
    const decipher = createDecipheriv(CIPHER, this.key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
      .setAAD(Buffer.from(context, "utf8"))
      .setAuthTag(bytes.subarray(-TAG_BYTES));
    try {
      return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]).toString("utf8");
    } catch (cause) {
      throw new Error("A sealed secret cannot be opened: it was sealed under another secret key or for something else, or has been changed.", { cause });
    }
  }
}
