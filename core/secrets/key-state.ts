import { OperationRefusedError } from "../errors.js";
import { type KeyId, NO_KEY_ID } from "../ports/keyring.js";

/** Which secret keys are in force; the storage holds it for all processes. */
export interface KeyState {
  /** Signs and seals. */
  readonly current: KeyId;
  /** Still accepted; null when one key is in force. */
  readonly previous: KeyId | null;
  /** The key whose signatures and seals without a key id are accepted; null when there are none. */
  readonly unnamed: KeyId | null;
  /** When `current` came into force; null for a first key. */
  readonly rotatedAt: number | null;
}

/** The name under which the storage keeps the state. */
export const KEY_STATE = "secret_keys";
/** The name under which versions before key ids kept the id of their only key. */
export const FIRST_KEY = "secret_key_fingerprint";

export interface OpeningKeys {
  /** null: this storage was never opened by a version with key ids. */
  readonly stored: KeyState | null;
  /** What is kept under {@link FIRST_KEY}. */
  readonly firstKey: KeyId | null;
  /** The ids of the keys that the process has, the one named first at the beginning. */
  readonly held: readonly KeyId[];
  readonly origin: "file" | "settings";
  readonly now: number;
}

const NOT_GIVEN =
  "secrets.key is not set, and the key in secret.key of the data directory is not the one this storage was first " +
  "opened with, nor the one it was rotated to: links and stored secrets would be dead. Set secrets.key " +
  "(FERMATA_SECRETS__KEY) to that key, or restore secret.key from a backup or another machine.";

/**
 * Decides which keys are in force once a process has opened the storage. A new key that the settings name first, next
 * to the current one, comes into force. The current key must be among the held ones: it proves that these are the keys
 * of this storage.
 *
 * @throws {OperationRefusedError} the current key is not held, or a third key would come into force
 */
export function openKeys({ stored, firstKey, held, origin, now }: OpeningKeys): KeyState {
  const [named] = held;
  if (named === undefined) throw new OperationRefusedError("There is no secret key.");
  const state = stored ?? newState(firstKey ?? named, firstKey);
  if (!held.includes(state.current)) {
    if (origin === "file") throw new OperationRefusedError(NOT_GIVEN);
    throw new OperationRefusedError(
      "secrets.key is not the key this storage was first opened with, nor the one it was rotated to: links and " +
        "stored " +
        "secrets would be dead. Set that key again.",
    );
  }
  if (origin === "file" || named === state.current || named === state.previous) return state;
  return rotated(state, named, now);
}

/** @throws {OperationRefusedError} two keys are in force already */
export function rotated(state: KeyState, id: KeyId, now: number): KeyState {
  requireOneKey(state);
  return { ...state, current: id, previous: state.current, rotatedAt: now };
}

/** @throws {OperationRefusedError} two keys are in force */
export function requireOneKey({ previous }: KeyState): void {
  if (previous === null) return;
  throw new OperationRefusedError(
    `Two keys are in force already: run \`fermata secrets retire\` to drop ${previous} before the next rotation.`,
  );
}

/** The current key alone is in force. @throws {OperationRefusedError} it is already */
export function retired(state: KeyState): KeyState {
  if (state.previous === null && state.unnamed === null) {
    throw new OperationRefusedError(`There is nothing to retire: ${state.current} is the only key in force.`);
  }
  return { ...state, previous: null, unnamed: null };
}

/** The key that is accepted under this id; null when none is. */
export function keyOf(state: KeyState, id: string): KeyId | null {
  if (id === NO_KEY_ID) return state.unnamed;
  return id === state.current || id === state.previous ? id : null;
}

export function parseKeyState(text: string): KeyState {
  return JSON.parse(text) as KeyState;
}

function newState(current: KeyId, unnamed: KeyId | null): KeyState {
  return { current, previous: null, unnamed, rotatedAt: null };
}
