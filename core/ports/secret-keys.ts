import type { KeyId } from "./keyring.js";

/**
 * Where the secret keys of this process come from. Selected by `secrets.key`; the override `secretKeys` of `compose`
 * replaces it, together with the keyring.
 */
export interface SecretKeys {
  /** `file`: they can be rotated from here. `settings`: an operator changes the settings of every process. */
  readonly origin: "file" | "settings";
  /** Where an operator finds them: a path, or the names of the settings. */
  readonly place: string;
  /**
   * Ids of the keys that are there, the one named first at the beginning. A first key is created where it may be.
   *
   * @throws {Error} they cannot be read or are no keys; the message holds no key
   */
  load(): Promise<readonly KeyId[]>;
  /**
   * Adds a new key next to those in force. A key that was added before and never came into force is used again, so
   * that a repeated call adds nothing.
   *
   * @param inForce the ids that are kept; all others but the new one are removed
   */
  add(inForce: readonly KeyId[]): Promise<KeyId>;
  /** Removes every other key. */
  keepOnly(ids: readonly KeyId[]): Promise<void>;
}
