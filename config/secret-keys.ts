import { StoredKeyring } from "../adapters/crypto/keyring.js";
import { type ReadableSecretKeys, SecretKeyFile, SettingsSecretKeys } from "../adapters/crypto/secret-keys.js";
import type { Stores } from "../adapters/storage/sql/index.js";
import type { Clock } from "../core/ports/clock.js";
import type { Logger } from "../core/ports/logger.js";
import { KeyStates } from "../core/secrets/key-states.js";
import type { Settings } from "./settings.js";

/** The secret keys of an open storage. */
export interface OpenedSecrets {
  readonly keys: ReadableSecretKeys;
  readonly states: KeyStates;
  /** Follows the storage until it is closed. */
  readonly keyring: StoredKeyring;
}

/** Where the settings say that the secret keys are. */
export function secretKeysOf({ secrets, dataDir }: Pick<Settings, "secrets" | "dataDir">): ReadableSecretKeys {
  const given = [secrets.key, secrets.previousKey].filter((key) => key !== null);
  return given.length === 0 ? new SecretKeyFile(dataDir) : new SettingsSecretKeys(given);
}

/**
 * The keys of config, or those in the data directory, once the storage has agreed to them.
 *
 * @throws {OperationRefusedError} they are not the keys of this storage
 */
export async function openSecrets(
  settings: Settings,
  { installation, unitOfWork }: Stores,
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
): Promise<OpenedSecrets> {
  const keys = secretKeysOf(settings);
  const states = new KeyStates({ installation, unitOfWork });
  const state = await states.open(keys, clock.now());
  const keyring = await StoredKeyring.open(
    { readKeys: () => keys.read(), readState: () => states.find(), clock, logger },
    state,
  );
  keyring.start();
  return { keys, states, keyring };
}
