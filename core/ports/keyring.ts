/** What a subkey is for. A key of one purpose is of no use for another. */
export type KeyPurpose = "audio-links" | "callback-links" | "webhook-secrets";

/** Names a secret key and says nothing about it: 16 lower-case hexadecimal digits. */
export type KeyId = string;

/** The id under which signatures and seals without a key id are accepted: those of versions before key ids. */
export const NO_KEY_ID = "none";

export interface Subkey {
  readonly id: KeyId;
  /** 32 bytes; for {@link NO_KEY_ID} the secret key itself, as text, which is what earlier versions used. */
  readonly key: Uint8Array | string;
}

/**
 * The installation's secret keys, of which one or two are in force. Signatures and seals use subkeys, one for each
 * purpose (RFC 5869, HKDF-SHA256, the info is `fermata/v1/PURPOSE`).
 */
export interface Keyring {
  /** Signs and seals. Another process may have changed to a new key up to 2 seconds ago. */
  current(purpose: KeyPurpose): Subkey;
  /**
   * The key of this id for verifying and opening; null while it is not in force. A key that another process has just
   * brought into force is found.
   *
   * @throws {ServiceUnavailableError} the id is unknown here and the storage cannot be asked
   */
  find(purpose: KeyPurpose, id: string): Promise<Subkey | null>;
}

/**
 * A keyring that follows the storage. Replaced through the override `keyring` of `compose`, together with the secret
 * keys whose ids it knows.
 */
export interface RefreshableKeyring extends Keyring {
  /** Makes this process notice a change of the keys in force at once; others notice within 2 seconds. */
  refresh(): Promise<void>;
}
