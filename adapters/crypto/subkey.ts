import { hkdfSync } from "node:crypto";
import type { KeyPurpose, Subkey } from "../../core/ports/keyring.js";
import { fingerprint } from "./secret-key.js";

const SUBKEY_BYTES = 32;

/** The subkey of a secret key: HKDF-SHA256 without salt. @see RFC 5869 */
export function subkeyOf(secretKey: string, purpose: KeyPurpose): Subkey {
  const key = new Uint8Array(hkdfSync("sha256", secretKey, "", `fermata/v1/${purpose}`, SUBKEY_BYTES));
  return { id: fingerprint(secretKey), key };
}
