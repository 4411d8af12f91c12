import { expect } from "chai";
import { AesSecretBox } from "../../../../adapters/crypto/secret-box.js";
import { fingerprint } from "../../../../adapters/crypto/secret-key.js";
import { AuditTrail } from "../../../../core/audit/audit-trail.js";
import type { WebhookEndpointId } from "../../../../core/ids.js";
import type { RetiredSecret, WebhookEndpoint } from "../../../../core/ports/webhook-records.js";
import { createSecrets, type Secrets } from "../../../../core/secrets/create-secrets.js";
import { FixedKeyring } from "../../../support/doubles/fixed-keyring.js";
import { type MemoryCore, memoryCore } from "../../../support/memory-core.js";
import { anEndpoint } from "../../../support/webhook-builders.js";

const KEYS = ["first", "second", "third"].map((name) => `the ${name} secret key, long enough for it`) as [
  string,
  string,
  string,
];
const [FIRST, SECOND] = KEYS.map(fingerprint) as [string, string, string];
const NEVER = new AbortController().signal;

describe("The secret keys of an installation", () => {
  let memory: MemoryCore;
  let keyring: FixedKeyring;
  /** What the file of keys holds, by ids. */
  let held: string[];
  let origin: "file" | "settings";
  let secrets: Secrets;
  beforeEach(async () => {
    memory = await memoryCore();
    keyring = new FixedKeyring(KEYS[0]);
    held = [FIRST];
    origin = "file";
    const secretBox = new AesSecretBox(keyring);
    const secretKeys = {
      get origin() {
        return origin;
      },
      place: "/var/lib/secret.key",
      load: async () => held,
      add: async (inForce: readonly string[]) => {
        held = [...inForce, SECOND];
        return SECOND;
      },
      keepOnly: async (ids: readonly string[]) => {
        held = [...ids];
      },
    };
    const ports = { ...memory.ports, keyring, secretBox, secretKeys };
    secrets = createSecrets(ports, new AuditTrail({ ...ports, actor: () => ({ name: "alice", why: null }) }));
    // In place of the keyring that follows the storage.
    keyring.refresh = async () => {
      const state = await secrets.keyStates.find();
      const keyOf = (id: string | null): string | null => KEYS.find((key) => fingerprint(key) === id) ?? null;
      keyring.secretKey = keyOf(state?.current ?? null) ?? keyring.secretKey;
      keyring.previous = keyOf(state?.previous ?? null);
    };
  });

  const open = (): ReturnType<Secrets["keyStates"]["open"]> =>
    secrets.keyStates.open({ load: async () => held, origin }, memory.clock.now());

  /** Stores an endpoint whose secret the current key seals. */
  async function anEndpointWith(secret: string, given: Partial<WebhookEndpoint> = {}): Promise<WebhookEndpointId> {
    const { id } = anEndpoint();
    const sealedSecret = new AesSecretBox(keyring).seal(secret, id);
    const endpoint = anEndpoint({ id, sealedSecret, ...given });
    await memory.storage.inTransaction((tx) => memory.storage.webhooks.insertEndpoint(tx, endpoint));
    return id;
  }
  const stored = async (id: WebhookEndpointId): Promise<WebhookEndpoint> =>
    (await memory.storage.webhooks.findEndpoints([id])).get(id) as WebhookEndpoint;
  const keyOf = async (id: WebhookEndpointId): Promise<string> =>
    new AesSecretBox(keyring).keyIdOf((await stored(id)).sealedSecret);

  describe("after a rotation, in the background", () => {
    beforeEach(async () => {
      await open();
    });
    const run = (signal = NEVER): Promise<void> => secrets.reseal.run(signal);
    const rowsLogged = (): unknown[] =>
      memory.logger.lines
        .filter(({ message }) => message === "Stored secrets were sealed with the current key")
        .map(({ fields }) => fields["rows"]);

    it("do nothing before a rotation", async () => {
      await anEndpointWith("whsec_1");
      await run();
      expect(memory.logger.lines).to.deep.equal([]);
      expect(secrets.reseal).to.include({ id: "reseal-secrets", everyMs: 5_000 });
    });

    it("seal all rows with the current key, whose secrets still sign", async () => {
      const box = new AesSecretBox(keyring);
      const ids = await Promise.all(Array.from({ length: 101 }, () => anEndpointWith("whsec_1")));
      const [first] = ids as [WebhookEndpointId];
      const [signing, over] = [memory.clock.now() + 1, memory.clock.now()].map((signsUntil) => ({
        sealed: box.seal("whsec_0", first),
        signsUntil,
      })) as [RetiredSecret, RetiredSecret];
      const retiredSecrets = [signing, over];
      await memory.storage.inTransaction(async (tx) =>
        memory.storage.webhooks.saveEndpoint(tx, { ...(await stored(first)), retiredSecrets }),
      );
      await secrets.rotate.rotate();
      await run();
      expect(rowsLogged()).to.deep.equal([101]);
      const { retiredSecrets: left } = await stored(first);
      expect(left.map(({ signsUntil }) => signsUntil)).to.deep.equal([memory.clock.now() + 1]);
      expect(left.map(({ sealed }) => box.keyIdOf(sealed))).to.deep.equal([SECOND]);
      for (const id of ids) expect(await keyOf(id)).to.equal(SECOND);
      await run();
      expect(rowsLogged()).to.deep.equal([101]);
    });

    it("leave rows to processes that have the new key already", async () => {
      const id = await anEndpointWith("whsec_1");
      keyring.refresh = () => Promise.resolve();
      await secrets.rotate.rotate();
      await run();
      expect([await keyOf(id), rowsLogged()]).to.deep.equal([FIRST, []]);
    });

    it("stop when they are aborted, and are done once a pass after the notice of all finds nothing", async () => {
      const id = await anEndpointWith("whsec_1");
      await secrets.rotate.rotate();
      await run(AbortSignal.abort());
      expect(await keyOf(id)).to.equal(FIRST);
      await run();
      await memory.clock.advance(10_000);
      await run();
      const sealLate = async (): Promise<WebhookEndpointId> => {
        keyring.secretKey = KEYS[0];
        const late = await anEndpointWith("whsec_2");
        await keyring.refresh();
        return late;
      };
      const late = await sealLate();
      await run();
      expect(await keyOf(late), "others may not have noticed the rotation").to.equal(SECOND);
      await memory.clock.advance(1);
      await run();
      const tooLate = await sealLate();
      await run();
      expect(await keyOf(tooLate), "it is done").to.equal(FIRST);
    });
  });
});
