import type { InstallationStore } from "../ports/installation-store.js";
import type { KeyId } from "../ports/keyring.js";
import type { SecretKeys } from "../ports/secret-keys.js";
import type { Transaction, UnitOfWork } from "../ports/unit-of-work.js";
import { FIRST_KEY, KEY_STATE, type KeyState, keyOf, openKeys, parseKeyState } from "./key-state.js";
import { ServiceUnavailableError } from "../errors.js";

export interface KeyStatesDeps {
  readonly installation: InstallationStore;
  readonly unitOfWork: UnitOfWork;
}

/** The stored {@link KeyState}. */
export class KeyStates {
  constructor(private readonly deps: KeyStatesDeps) {}

  /**
   * Agrees with all other processes of the storage on which keys are in force, as {@link openKeys} decides.
   *
   * @throws {OperationRefusedError} these are not the keys of this storage; nothing was changed
   */
  async open(keys: Pick<SecretKeys, "load" | "origin">, now: number): Promise<KeyState> {
    const held = await keys.load();
    const firstKey = await this.deps.installation.find(FIRST_KEY);
    const decide = (stored: KeyState | null): KeyState =>
      openKeys({ stored, firstKey, held, origin: keys.origin, now });
    if ((await this.find()) === null) await this.deps.installation.keepFirst(KEY_STATE, JSON.stringify(decide(null)));
    return this.deps.unitOfWork.inTransaction(async (tx) => {
      const stored = await this.lock(tx);
      const state = decide(stored);
      if (state !== stored) await this.save(tx, state);
      return state;
    });
  }

  /** null: no version with key ids has opened this storage yet. */
  async find(): Promise<KeyState | null> {
    const text = await this.deps.installation.find(KEY_STATE);
    return text === null ? null : parseKeyState(text);
  }

  /** Reads the state and keeps it from changing until `tx` ends; it is there once {@link open} has returned. */
  async lock(tx: Transaction): Promise<KeyState> {
    const text = await this.deps.installation.lock(tx, KEY_STATE);
    if (text === null) throw new Error("The state of the secret keys is gone from the storage.");
    return parseKeyState(text);
  }

  save(tx: Transaction, state: KeyState): Promise<void> {
    return this.deps.installation.write(tx, KEY_STATE, JSON.stringify(state));
  }

  /**
   * Called where a sealed text is about to be written. While `tx` runs no key is retired, so that nothing stays behind
   * under a key that is gone.
   *
   * @throws {ServiceUnavailableError} the key has been retired since this process last looked
   */
  async requireInForce(tx: Transaction, id: KeyId): Promise<void> {
    if (keyOf(await this.lock(tx), id) !== null) return;
    throw new ServiceUnavailableError(undefined, 1, {
      cause: new Error(`The secret key ${id} has been retired meanwhile.`),
    });
  }
}
