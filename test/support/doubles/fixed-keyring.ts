import { fingerprint } from "../../../adapters/crypto/secret-key.js";
import { subkeyOf } from "../../../adapters/crypto/subkey.js";
import { type KeyPurpose, NO_KEY_ID, type RefreshableKeyring, type Subkey } from "../../../core/ports/keyring.js";

/**
 * In place of the installation's secret keys: a keyring whose keys a test sets.
 *
 * @example
 * const keyring = new FixedKeyring("the first secret key, long enough for it");
 * const { id } = keyring.current("audio-links");
 * keyring.previous = keyring.secretKey;
 * keyring.secretKey = "the second secret key, long enough for it";
 * assert.notEqual(await keyring.find("audio-links", id), null);
 */
export class FixedKeyring implements RefreshableKeyring {
  private readonly subkeys = new Map<string, Subkey>();
  /** Accepted besides the current key. */
  previous: string | null = null;
  /** The key of signatures and seals without a key id. */
  unnamed: string | null = null;

  constructor(public secretKey = "a secret key of a test, long enough for it") {}

  refresh(): Promise<void> {
    return Promise.resolve();
  }

  current(purpose: KeyPurpose): Subkey {
    return this.subkey(this.secretKey, purpose);
  }

  find(purpose: KeyPurpose, id: string): Promise<Subkey | null> {
    if (id === NO_KEY_ID) return Promise.resolve(this.unnamed === null ? null : { id, key: this.unnamed });
    const found = [this.secretKey, this.previous].find((key) => key !== null && fingerprint(key) === id);
    return Promise.resolve(found === undefined || found === null ? null : this.subkey(found, purpose));
  }

  /** Made once, as the installation's are. */
  private subkey(secretKey: string, purpose: KeyPurpose): Subkey {
    const name = `${purpose} ${secretKey}`;
    const subkey = this.subkeys.get(name) ?? subkeyOf(secretKey, purpose);
    this.subkeys.set(name, subkey);
    return subkey;
  }
}

/** For tests without stored key states: every key may seal. */
export const EVERY_KEY = { requireInForce: () => Promise.resolve() };
