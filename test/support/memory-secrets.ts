import { AesSecretBox } from "../../adapters/crypto/secret-box.js";
import { fingerprint } from "../../adapters/crypto/secret-key.js";
import { AuditTrail } from "../../core/audit/audit-trail.js";
import type { WebhookEndpointId } from "../../core/ids.js";
import type { WebhookEndpoint } from "../../core/ports/webhook-records.js";
import { createSecrets, type Secrets } from "../../core/secrets/create-secrets.js";
import { FixedKeyring } from "./doubles/fixed-keyring.js";
import { type MemoryCore, memoryCore } from "./memory-core.js";
import { anEndpoint } from "./webhook-builders.js";

type Three = readonly [string, string, string];

/** Secret keys, the first of them in force at the beginning; and their ids. */
export const KEYS = ["first", "second", "third"].map(
  (name) => `the ${name} secret key, long enough for it`,
) as unknown as Three;
export const KEY_IDS = KEYS.map(fingerprint) as unknown as Three;

/** The use cases of secret keys on the stores in memory. */
export interface MemorySecrets {
  readonly memory: MemoryCore;
  readonly keyring: FixedKeyring;
  readonly secrets: Secrets;
  /** What the file of keys holds, by ids. */
  held: readonly string[];
  origin: "file" | "settings";
  /** As a process does when it starts. */
  open(): ReturnType<Secrets["keyStates"]["open"]>;
  /** Stores an endpoint whose secret the current key seals. */
  anEndpointWith(secret: string, given?: Partial<WebhookEndpoint>): Promise<WebhookEndpointId>;
  stored(id: WebhookEndpointId): Promise<WebhookEndpoint>;
  /** The id of the key that seals the endpoint's secret. */
  keyOf(id: WebhookEndpointId): Promise<string>;
}

export async function memorySecrets(): Promise<MemorySecrets> {
  const memory = await memoryCore();
  const keyring = new FixedKeyring(KEYS[0]);
  const secretBox = new AesSecretBox(keyring);
  const secretKeys = {
    get origin() {
      return kit.origin;
    },
    place: "/var/lib/secret.key",
    load: async () => [...kit.held],
    add: async (inForce: readonly string[]) => {
      kit.held = [...inForce, KEY_IDS[1]];
      return KEY_IDS[1];
    },
    keepOnly: async (ids: readonly string[]) => {
      kit.held = ids;
    },
  };
  const ports = { ...memory.ports, keyring, secretBox, secretKeys };
  const secrets = createSecrets(ports, new AuditTrail({ ...ports, actor: () => ({ name: "alice", why: null }) }));
  // In place of the keyring that follows the storage.
  keyring.refresh = async () => {
    const state = await secrets.keyStates.find();
    const keyFor = (id: string | null): string | null => KEYS.find((key) => fingerprint(key) === id) ?? null;
    keyring.secretKey = keyFor(state?.current ?? null) ?? keyring.secretKey;
    keyring.previous = keyFor(state?.previous ?? null);
  };
  const kit: MemorySecrets = {
    ...{ memory, keyring, secrets, held: [KEY_IDS[0]], origin: "file" },
    open: () => secrets.keyStates.open({ load: async () => [...kit.held], origin: kit.origin }, memory.clock.now()),
    async anEndpointWith(secret, given = {}) {
      const { id } = anEndpoint();
      const endpoint = anEndpoint({ id, sealedSecret: secretBox.seal(secret, id), ...given });
      await memory.storage.inTransaction((tx) => memory.storage.webhooks.insertEndpoint(tx, endpoint));
      return id;
    },
    async stored(id) {
      return (await memory.storage.webhooks.findEndpoints([id])).get(id) as WebhookEndpoint;
    },
    async keyOf(id) {
      return secretBox.keyIdOf((await kit.stored(id)).sealedSecret);
    },
  };
  return kit;
}
