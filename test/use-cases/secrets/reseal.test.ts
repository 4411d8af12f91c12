import { expect } from "chai";
import { AesSecretBox } from "../../../adapters/crypto/secret-box.js";
import type { WebhookEndpointId } from "../../../core/ids.js";
import type { RetiredSecret } from "../../../core/ports/webhook-records.js";
import { KEY_IDS, KEYS, memorySecrets, type MemorySecrets } from "../../support/memory-secrets.js";

const [FIRST, SECOND] = KEY_IDS;
const NEVER = new AbortController().signal;

describe("The secret keys of an installation", () => {
  let kit: MemorySecrets;
  let memory: MemorySecrets["memory"];
  let keyring: MemorySecrets["keyring"];
  let secrets: MemorySecrets["secrets"];
  beforeEach(async () => {
    kit = await memorySecrets();
    ({ memory, keyring, secrets } = kit);
  });

  describe("after a rotation, in the background", () => {
    beforeEach(async () => {
      await kit.open();
    });
    const run = (signal = NEVER): Promise<void> => secrets.reseal.run(signal);
    const rowsLogged = (): unknown[] =>
      memory.logger.lines
        .filter(({ message }) => message === "Stored secrets were sealed with the current key")
        .map(({ fields }) => fields["rows"]);

    it("do nothing before a rotation", async () => {
      await kit.anEndpointWith("whsec_1");
      await run();
      expect(memory.logger.lines).to.deep.equal([]);
      expect(secrets.reseal).to.include({ id: "reseal-secrets", everyMs: 5_000 });
    });

    it("seal all rows with the current key, whose secrets still sign", async () => {
      const box = new AesSecretBox(keyring);
      const ids = await Promise.all(Array.from({ length: 101 }, () => kit.anEndpointWith("whsec_1")));
      const [first] = ids as [WebhookEndpointId];
      const [signing, over] = [memory.clock.now() + 1, memory.clock.now()].map((signsUntil) => ({
        sealed: box.seal("whsec_0", first),
        signsUntil,
      })) as [RetiredSecret, RetiredSecret];
      const retiredSecrets = [signing, over];
      await memory.storage.inTransaction(async (tx) =>
        memory.storage.webhooks.saveEndpoint(tx, { ...(await kit.stored(first)), retiredSecrets }),
      );
      await secrets.rotate.rotate();
      await run();
      expect(rowsLogged()).to.deep.equal([101]);
      const { retiredSecrets: left } = await kit.stored(first);
      expect(left.map(({ signsUntil }) => signsUntil)).to.deep.equal([memory.clock.now() + 1]);
      expect(left.map(({ sealed }) => box.keyIdOf(sealed))).to.deep.equal([SECOND]);
      for (const id of ids) expect(await kit.keyOf(id)).to.equal(SECOND);
      await run();
      expect(rowsLogged()).to.deep.equal([101]);
    });

    it("leave rows to processes that have the new key already", async () => {
      const id = await kit.anEndpointWith("whsec_1");
      keyring.refresh = () => Promise.resolve();
      await secrets.rotate.rotate();
      await run();
      expect([await kit.keyOf(id), rowsLogged()]).to.deep.equal([FIRST, []]);
    });

    it("stop when they are aborted, and are done once a pass after the notice of all finds nothing", async () => {
      const id = await kit.anEndpointWith("whsec_1");
      await secrets.rotate.rotate();
      await run(AbortSignal.abort());
      expect(await kit.keyOf(id)).to.equal(FIRST);
      await run();
      await memory.clock.advance(10_000);
      await run();
      const sealLate = async (): Promise<WebhookEndpointId> => {
        keyring.secretKey = KEYS[0];
        const late = await kit.anEndpointWith("whsec_2");
        await keyring.refresh();
        return late;
      };
      const late = await sealLate();
      await run();
      expect(await kit.keyOf(late), "others may not have noticed the rotation").to.equal(SECOND);
      await memory.clock.advance(1);
      await run();
      const tooLate = await sealLate();
      await run();
      expect(await kit.keyOf(tooLate), "it is done").to.equal(FIRST);
    });
  });
});
