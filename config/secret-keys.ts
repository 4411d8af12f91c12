import { StoredKeyring } from "../adapters/crypto/keyring.js";
import { type ReadableSecretKeys, SecretKeyFile, SettingsSecretKeys } from "../adapters/crypto/secret-keys.js";
import type { Clock } from "../core/ports/clock.js";
import type { CorePorts } from "../core/ports/core-ports.js";
import type { RefreshableKeyring } from "../core/ports/keyring.js";
import type { Logger } from "../core/ports/logger.js";
import type { SecretKeys } from "../core/ports/secret-keys.js";
import type { Stores } from "../core/ports/stores.js";
import { KeyStates } from "../core/secrets/key-states.js";
import type { Settings } from "./settings.js";

/** The secret keys of an open storage. */
export interface OpenedSecrets {
  readonly keys: SecretKeys;
  readonly keyring: RefreshableKeyring;
  /** Until then the keyring follows the storage. */
  close(): Promise<void>;
}

/** Where the settings say that the secret keys are. */
export function secretKeysOf({ secrets, dataDir }: Pick<Settings, "secrets" | "dataDir">): ReadableSecretKeys {
  const given = [secrets.key, secrets.previousKey].filter((key) => key !== null);
  return given.length === 0 ? new SecretKeyFile(dataDir) : new SettingsSecretKeys(given);
}

/**
 * The keys of the app, those of config, or those in the data directory, once the storage has agreed to them.
 *
 * @throws {OperationRefusedError} they are not the keys of this storage
 * @throws {Error} the app gives a keyring without its secret keys, or the other way round
 */
export async function openSecrets(
  settings: Settings,
  { installation, unitOfWork }: Stores,
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
  given: Partial<Pick<CorePorts, "keyring" | "secretKeys">> = {},
): Promise<OpenedSecrets> {
  const states = new KeyStates({ installation, unitOfWork });
  if (given.keyring !== undefined && given.secretKeys !== undefined) {
    await states.open(given.secretKeys, clock.now());
    return { keys: given.secretKeys, keyring: given.keyring, close: () => Promise.resolve() };
  }
  if (given.keyring !== given.secretKeys)
    throw new Error(
      "The overrides keyring and secretKeys go together: the keyring holds the keys that the other names.",
    );
  const keys = secretKeysOf(settings);
  const state = await states.open(keys, clock.now());
  const keyring = await StoredKeyring.open(
    { readKeys: () => keys.read(), readState: () => states.find(), clock, logger },
    state,
  );
  keyring.start();
  return { keys, keyring, close: () => keyring.close() };
}
