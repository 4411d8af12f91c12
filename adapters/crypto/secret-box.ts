import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { type KeyId, type Keyring, NO_KEY_ID, type Subkey } from "../../core/ports/keyring.js";
import type { SecretBox } from "../../core/ports/secret-box.js";

const VERSION = "v2";
/** Of versions before key ids. */
const UNNAMED_VERSION = "v1";
const UNNAMED_INFO = "fermata secret box v1";
const CIPHER = "aes-256-gcm";
const KEY_BYTES = 32;
/** For random nonces NIST SP 800-38D allows 2^32 texts under one key. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

interface SealedDeps {
  readonly keyId: KeyId;
  readonly encoded: string;
}

/**
 * AES-256-GCM under the installation's subkey for webhook secrets. A sealed text is `v2.`, the key's id, `.` and, in
 * base64url, nonce, ciphertext and tag; its length reveals the length of the text, nothing else.
 */
export class AesSecretBox implements SecretBox {
  constructor(private readonly keyring: Keyring) {}

  seal(text: string, context: string): string {
    const { id, key } = this.keyring.current("webhook-secrets");
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(context, "utf8"));
    const parts = [nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()];
    return `${VERSION}.${id}.${Buffer.concat(parts).toString("base64url")}`;
  }

  async open(sealed: string, context: string): Promise<string> {
    const { keyId, encoded } = parse(sealed);
    const bytes = Buffer.from(encoded, "base64url");
    // Buffer.from skips characters that are not base64: only one spelling of each sealed text is accepted.
    if (bytes.length < NONCE_BYTES + TAG_BYTES || bytes.toString("base64url") !== encoded) {
      throw new Error("A sealed secret is cut off or garbled.");
    }
    const subkey = await this.keyring.find("webhook-secrets", keyId);
    if (subkey === null) throw new Error(`A sealed secret needs the secret key ${keyId}, which is not in force.`);
    const decipher = createDecipheriv(CIPHER, cipherKey(subkey), bytes.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    })
      .setAAD(Buffer.from(context, "utf8"))
      .setAuthTag(bytes.subarray(-TAG_BYTES));
    try {
      return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]).toString();
    } catch (cause) {
      throw new Error(
        "A sealed secret cannot be opened: it was sealed under another secret key or for something else, or has been " +
          "changed.",
        { cause },
      );
    }
  }

  keyIdOf(sealed: string): KeyId {
    return parse(sealed).keyId;
  }
}

function parse(sealed: string): SealedDeps {
  const [version, ...rest] = sealed.split(".");
  const [first, second] = rest;
  if (version === UNNAMED_VERSION && rest.length === 1) return { keyId: NO_KEY_ID, encoded: first ?? "" };
  if (version === VERSION && rest.length === 2) return { keyId: first ?? "", encoded: second ?? "" };
  throw new Error(`A sealed secret is not of the form ${VERSION}.KEY.… or ${UNNAMED_VERSION}.…`);
}

function cipherKey({ id, key }: Subkey): Uint8Array | string {
  return id === NO_KEY_ID ? new Uint8Array(hkdfSync("sha256", key, "", UNNAMED_INFO, KEY_BYTES)) : key;
}
