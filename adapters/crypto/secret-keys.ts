import { join } from "node:path";
import type { KeyId } from "../../core/ports/keyring.js";
import type { SecretKeys } from "../../core/ports/secret-keys.js";
import { fingerprint, loadOrCreateSecretKeys, newSecretKey, replaceSecretKeys, SECRET_KEY_FILE } from "./secret-key.js";

/** {@link SecretKeys} with the keys themselves, for the keyring. */
export interface ReadableSecretKeys extends SecretKeys {
  /** The keys by their ids, in their order. */
  read(): Promise<ReadonlyMap<KeyId, string>>;
}

/** The keys in `secret.key` of the data directory. */
export class SecretKeyFile implements ReadableSecretKeys {
  readonly origin = "file";
  readonly place: string;

  constructor(private readonly dataDir: string) {
    this.place = join(dataDir, SECRET_KEY_FILE);
  }

  async read(): Promise<ReadonlyMap<KeyId, string>> {
    return byId(await loadOrCreateSecretKeys(this.dataDir));
  }

  async load(): Promise<readonly KeyId[]> {
    return [...(await this.read()).keys()];
  }

  async add(inForce: readonly KeyId[]): Promise<KeyId> {
    const keys = await this.read();
    // New keys are put first. One that is not in force further down was retired, and must not come back.
    const [first] = [...keys];
    const added = first !== undefined && !inForce.includes(first[0]) ? first[1] : newSecretKey();
    const kept = [...keys].flatMap(([id, key]) => (inForce.includes(id) ? [key] : []));
    await replaceSecretKeys(this.dataDir, [added, ...kept]);
    return fingerprint(added);
  }

  async keepOnly(ids: readonly KeyId[]): Promise<void> {
    const keys = await this.read();
    const kept = [...keys].flatMap(([id, key]) => (ids.includes(id) ? [key] : []));
    // A file without keys would make all secrets of the installation unreadable.
    if (kept.length === 0) throw new Error(`${this.place} holds none of the keys that are to be kept.`);
    if (kept.length < keys.size) await replaceSecretKeys(this.dataDir, kept);
  }
}

/** The keys of the settings: `secrets.key` and `secrets.previousKey`. */
export class SettingsSecretKeys implements ReadableSecretKeys {
  readonly origin = "settings";
  readonly place = "secrets.key, secrets.previousKey";

  constructor(private readonly keys: readonly string[]) {}

  read(): Promise<ReadonlyMap<KeyId, string>> {
    return Promise.resolve(byId(this.keys));
  }

  load(): Promise<readonly KeyId[]> {
    return Promise.resolve(this.keys.map(fingerprint));
  }

  add(): Promise<KeyId> {
    return Promise.reject(new Error("Keys of the settings are changed there."));
  }

  keepOnly(): Promise<void> {
    return Promise.resolve();
  }
}

function byId(keys: readonly string[]): ReadonlyMap<KeyId, string> {
  return new Map(keys.map((key) => [fingerprint(key), key]));
}
