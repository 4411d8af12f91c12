import type { AuditEntry, AuditFields } from "../ports/audit-record.js";
import type { RecordsActions } from "../audit/audit-trail.js";
import { OperationRefusedError } from "../errors.js";
import type { WebhookEndpointId } from "../ids.js";
import type { Clock } from "../ports/clock.js";
import { type KeyId, NO_KEY_ID } from "../ports/keyring.js";
import type { SecretKeys } from "../ports/secret-keys.js";
import type { Transaction, UnitOfWork } from "../ports/unit-of-work.js";
import { type KeyState, requireOneKey, retired, rotated } from "./key-state.js";
import type { KeyStates } from "./key-states.js";
import type { ResealSecrets } from "./reseal.js";

export interface RotateSecretsDeps {
  readonly unitOfWork: UnitOfWork;
  readonly audit: RecordsActions;
  readonly states: KeyStates;
  readonly keys: SecretKeys;
  readonly reseal: ResealSecrets;
  readonly clock: Clock;
  /** Makes this process notice a change at once; others notice within 2 seconds. */
  refreshKeyring(): Promise<void>;
}

export interface SecretsStatus {
  readonly state: KeyState;
  readonly origin: SecretKeys["origin"];
  readonly place: string;
  /** Every key in force, and every key that a row needs. */
  readonly keys: readonly KeyStatus[];
}

/** A key, and how many rows are sealed with it. */
export interface KeyStatus {
  readonly id: KeyId;
  /** `accepted`: signatures of earlier versions, which name no key. */
  readonly role: "current" | "previous" | "accepted" | "not in force";
  readonly sealedRows: number;
}

export interface RetiredKeys {
  readonly state: KeyState;
  /** The ids that are no longer accepted. */
  readonly retired: readonly KeyId[];
  /** Webhook endpoints whose secret cannot be opened any more; only when forced. */
  readonly lost: readonly WebhookEndpointId[];
}

/** Of refused retirements this many endpoints are named. */
const NAMED_MAX = 10;

/** Rotates the installation's secret key, for operators. */
export class RotateSecrets {
  constructor(private readonly deps: RotateSecretsDeps) {}

  /** Which keys the installation knows, and how much is still sealed under each. */
  async status(): Promise<SecretsStatus> {
    const { keys, reseal } = this.deps;
    const state = await this.stateNow();
    const rows = await reseal.count();
    const inForce = [state.current, ...(state.previous === null ? [] : [state.previous])];
    const ids = new Set([...inForce, ...rows.keys()]);
    const statuses = [...ids].map((id) => ({ id, role: roleOf(id, state), sealedRows: rows.get(id)?.length ?? 0 }));
    return { state, origin: keys.origin, place: keys.place, keys: statuses };
  }

  /**
   * Creates a new key and brings it into force. The key before is accepted until {@link retire}. Nothing is rotated
   * when this process ends before the key is stored in the file and named in the storage.
   *
   * @throws {OperationRefusedError} two keys are in force already, or the keys come from settings: the message says
   * what to do there
   */
  async rotate(): Promise<KeyState> {
    const { audit, states, keys, clock, refreshKeyring } = this.deps;
    if (keys.origin === "settings") throw new OperationRefusedError(SETTINGS_STEPS);
    const rotate = async (tx: Transaction): Promise<KeyState> => {
      const before = await states.lock(tx);
      requireOneKey(before);
      // The file is written under the lock of the state, so that of two rotations at once one does nothing. It holds
      // the new key before the storage names it; a repeated run finds that key and uses it.
      const after = rotated(before, await keys.add([before.current]), clock.now());
      await states.save(tx, after);
      return after;
    };
    const describe = ({ current, previous }: KeyState): AuditEntry => entryOf("secrets.rotate", { current, previous });
    const state = await audit.inTransaction(rotate, describe);
    await refreshKeyring();
    return state;
  }

  /**
   * Seals what is left with the current key, then drops the previous key, and signatures and seals without a key id.
   *
   * @param options force: also when rows cannot be sealed again; they are lost
   * @throws {OperationRefusedError} nothing to retire, or rows that need the old key; nothing was dropped
   */
  async retire({ force }: { readonly force: boolean }, signal: AbortSignal): Promise<RetiredKeys> {
    const { audit, states, keys, reseal, refreshKeyring } = this.deps;
    const now = await this.stateNow();
    retired(now); // refuses before anything is sealed again
    await refreshKeyring();
    await reseal.execute(now.current, signal);
    const retire = async (tx: Transaction): Promise<RetiredKeys> => {
      // While this lock is held, no row is sealed with the old key.
      const before = await states.lock(tx);
      const after = retired(before);
      const lost = await this.rowsNotOf(after.current);
      if (lost.length > 0 && !force) throw new OperationRefusedError(stillNeeded(lost));
      await states.save(tx, after);
      const ids = [before.previous, before.unnamed].filter((id) => id !== null && id !== after.current);
      return { state: after, retired: [...new Set(ids as KeyId[])], lost };
    };
    const created = await audit.inTransaction(retire, ({ retired: ids, lost }) =>
      entryOf("secrets.retire", { retired: ids.join(", "), forced: force, lost: lost.length }),
    );
    await keys.keepOnly([created.state.current]);
    await refreshKeyring();
    return created;
  }

  private async rowsNotOf(current: KeyId): Promise<WebhookEndpointId[]> {
    const rows = await this.deps.reseal.count();
    return [...new Set([...rows].flatMap(([id, endpoints]) => (id === current ? [] : endpoints)))];
  }

  private stateNow(): Promise<KeyState> {
    return this.deps.unitOfWork.inTransaction((tx) => this.deps.states.lock(tx));
  }
}

function roleOf(id: KeyId, { current, previous, unnamed }: KeyState): KeyStatus["role"] {
  if (id === current) return "current";
  if (id === previous) return "previous";
  return id === NO_KEY_ID && unnamed !== null ? "accepted" : "not in force";
}

/** Ids of keys are no secrets. */
function entryOf(action: "secrets.rotate" | "secrets.retire", fields: AuditFields): AuditEntry {
  return { action, accountId: null, targets: [], fields };
}

const SETTINGS_STEPS = [
  "The secret key comes from the settings, so it is rotated there:",
  "1. Create a key: `openssl rand -base64 33`.",
  "2. Set secrets.previousKey (FERMATA_SECRETS__PREVIOUS_KEY) to the new key for every process, and restart them.",
  "3. Set secrets.key to the new key and secrets.previousKey to the old one for every process, and restart them.",
  "   The first process that starts so brings the new key into force for all.",
  "4. Run `fermata secrets retire`, then remove secrets.previousKey.",
  "Where all processes may be stopped at once, leave step 2 out.",
].join("\n");

function stillNeeded(endpoints: readonly WebhookEndpointId[]): string {
  const more = endpoints.length > NAMED_MAX ? ` and ${endpoints.length - NAMED_MAX} more` : "";
  return (
    `Secrets of webhook endpoints are still sealed with the old key and could not be sealed again ` +
    `(${endpoints.length}): ` +
    `${endpoints.slice(0, NAMED_MAX).join(", ")}${more}. The log says why. With --force their secrets are lost: give ` +
    "each a new one with `fermata webhooks rotate-secret ENDPOINT --overlap-hours 0`."
  );
}
