import { BackgroundLoop } from "../../core/background-loop.js";
import type { Clock } from "../../core/ports/clock.js";
import { type KeyPurpose, NO_KEY_ID, type RefreshableKeyring, type Subkey } from "../../core/ports/keyring.js";
import type { Logger } from "../../core/ports/logger.js";
import { type KeyState, keyOf } from "../../core/secrets/key-state.js";
import { subkeyOf } from "./subkey.js";

export interface StoredKeyringDeps {
  /** The secret keys of this process, by their ids. */
  readKeys(): Promise<ReadonlyMap<string, string>>;
  /** Which keys are in force; null before the storage was opened. */
  readState(): Promise<KeyState | null>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How long a rotation in another process may go unnoticed. */
const REFRESH_MS = 2_000;
/** Unknown key ids, which any client can invent, cause a read of the state at most this often. */
const LOOKUP_MS = 500;

/**
 * A {@link RefreshableKeyring} that follows the state in the storage, and reads the keys again whenever that has
 * changed.
 */
export class StoredKeyring implements RefreshableKeyring {
  private readonly subkeys = new Map<string, Subkey>();
  /** Those that sign, until the state is read again. */
  private readonly signing = new Map<KeyPurpose, Subkey>();
  private readonly loop: BackgroundLoop;
  private refreshing: Promise<void> | null = null;
  private refreshedAt: number;
  private missing: string | null = null;

  private constructor(
    private readonly deps: StoredKeyringDeps,
    private state: KeyState,
    private keys: ReadonlyMap<string, string>,
  ) {
    this.refreshedAt = deps.clock.now();
    this.loop = new BackgroundLoop({
      step: async () => {
        await this.refresh();
        return REFRESH_MS;
      },
      errorPauseMs: REFRESH_MS,
      clock: deps.clock,
      logger: deps.logger,
      errorMessage: "The state of the secret keys could not be read",
    });
  }

  /** Reads the keys, and the state that the storage was opened with. Nothing runs before {@link start}. */
  static async open(deps: StoredKeyringDeps, state: KeyState): Promise<StoredKeyring> {
    return new StoredKeyring(deps, state, await deps.readKeys());
  }

  /** Begins to follow the state. */
  start(): void {
    this.loop.start(REFRESH_MS);
  }

  async close(): Promise<void> {
    await this.loop.stop();
  }

  current(purpose: KeyPurpose): Subkey {
    let subkey = this.signing.get(purpose);
    if (subkey === undefined) this.signing.set(purpose, (subkey = this.signingKey(purpose)));
    return subkey;
  }

  private signingKey(purpose: KeyPurpose): Subkey {
    const { current, previous } = this.state;
    // A key that is in force elsewhere only cannot sign here; the one before it is accepted everywhere.
    const secretKey = this.keys.get(current) ?? this.keys.get(previous ?? "");
    if (secretKey === undefined) throw new Error(`The secret key ${current} is in force, and is not known here.`);
    return this.subkey(purpose, secretKey);
  }

  async find(purpose: KeyPurpose, id: string): Promise<Subkey | null> {
    if (id !== NO_KEY_ID && (keyOf(this.state, id) === null || !this.keys.has(id))) await this.lookUp();
    const keyId = keyOf(this.state, id);
    const secretKey = keyId === null ? undefined : this.keys.get(keyId);
    if (secretKey === undefined) return null;
    return id === NO_KEY_ID ? { id: NO_KEY_ID, key: secretKey } : this.subkey(purpose, secretKey);
  }

  /** Reads the state now. Calls at the same time share one read. */
  refresh(): Promise<void> {
    this.refreshing ??= this.read().finally(() => (this.refreshing = null));
    return this.refreshing;
  }

  private async lookUp(): Promise<void> {
    const age = this.deps.clock.now() - this.refreshedAt;
    if (this.refreshing !== null || age < 0 || age >= LOOKUP_MS) await this.refresh();
  }

  private async read(): Promise<void> {
    const state = await this.deps.readState();
    this.refreshedAt = this.deps.clock.now();
    if (state === null) return;
    const isChanged = state.current !== this.state.current || state.previous !== this.state.previous;
    if (isChanged || !this.keys.has(state.current)) this.keys = await this.deps.readKeys();
    this.state = state;
    this.signing.clear();
    if (isChanged) this.deps.logger.info("The secret keys in force have changed", { ...state });
    this.reportMissing();
  }

  private reportMissing(): void {
    const { current } = this.state;
    if (this.keys.has(current)) this.missing = null;
    else if (this.missing !== current) {
      this.missing = current;
      this.deps.logger.error("A secret key is in force that this process does not have; give it to this machine too", {
        key_id: current,
      });
    }
  }

  private subkey(purpose: KeyPurpose, secretKey: string): Subkey {
    const name = `${purpose}\n${secretKey}`;
    const known = this.subkeys.get(name);
    if (known !== undefined) return known;
    const subkey = subkeyOf(secretKey, purpose);
    this.subkeys.set(name, subkey);
    return subkey;
  }
}
