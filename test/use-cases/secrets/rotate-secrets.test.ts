import { expect } from "chai";
import { AesSecretBox } from "../../../adapters/crypto/secret-box.js";
import { OperationRefusedError, ServiceUnavailableError } from "../../../core/errors.js";
import { NO_KEY_ID } from "../../../core/ports/keyring.js";
import { FIRST_KEY } from "../../../core/secrets/key-state.js";
import { KEY_IDS, KEYS, memorySecrets, type MemorySecrets } from "../../support/memory-secrets.js";
import { anEndpoint } from "../../support/webhook-builders.js";

const [FIRST, SECOND, THIRD] = KEY_IDS;
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
  const refusal = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => "done",
      (error: Error) => (error instanceof OperationRefusedError ? error.message : String(error)),
    );

  it("are one key at first, which every process of the storage has to have", async () => {
    expect(await secrets.keyStates.find()).to.equal(null);
    const state = { current: FIRST, previous: null, unnamed: null, rotatedAt: null };
    expect(await kit.open()).to.deep.equal(state);
    expect(await kit.open()).to.deep.equal(state);
    expect(await secrets.keyStates.find()).to.deep.equal(state);
    kit.held = [THIRD];
    expect(await refusal(kit.open())).to.include("secrets.key is not set");
    expect(await secrets.keyStates.find()).to.deep.equal(state);
  });

  it("accept what versions without key ids signed, where one has opened the storage", async () => {
    await memory.storage.installation.keep(FIRST_KEY, FIRST);
    expect(await kit.open()).to.include({ current: FIRST, unnamed: FIRST });
  });

  it("change to a key that the settings name first, in all processes", async () => {
    kit.origin = "settings";
    await kit.open();
    kit.held = [SECOND, FIRST];
    const state = { current: SECOND, previous: FIRST, unnamed: null, rotatedAt: memory.clock.now() };
    expect(await kit.open()).to.deep.equal(state);
    expect(await secrets.keyStates.find()).to.deep.equal(state);
  });

  it("are gone where the storage has lost their state", async () => {
    const locked = memory.storage.inTransaction((tx) => secrets.keyStates.lock(tx));
    expect(await locked.catch(String)).to.include("The state of the secret keys is gone from the storage.");
  });

  it("may seal while they are in force, and not once they are retired", async () => {
    await kit.open();
    const requires = (id: string): Promise<unknown> =>
      memory.storage.inTransaction((tx) => secrets.keyStates.requireInForce(tx, id)).catch((error: unknown) => error);
    expect(await requires(FIRST)).to.equal(undefined);
    const refused = (await requires(SECOND)) as ServiceUnavailableError;
    expect(refused).to.be.instanceOf(ServiceUnavailableError);
    expect(String(refused.cause)).to.include(`The secret key ${SECOND} has been retired meanwhile.`);
  });

  describe("rotated by an operator", () => {
    beforeEach(async () => {
      await kit.open();
    });

    it("are two from then on: the new one seals, and it is recorded", async () => {
      const state = await secrets.rotate.rotate();
      expect(state).to.deep.equal({ current: SECOND, previous: FIRST, unnamed: null, rotatedAt: memory.clock.now() });
      expect(keyring.current("webhook-secrets").id).to.equal(SECOND);
      expect(kit.held).to.deep.equal([FIRST, SECOND]);
      const [record] = await memory.storage.auditLog.list({ limit: 1 });
      expect(record).to.deep.include({
        action: "secrets.rotate",
        accountId: null,
        targets: [],
        fields: { current: SECOND, previous: FIRST },
      });
    });

    it("are refused a third one, and are rotated in the settings where they come from there", async () => {
      await secrets.rotate.rotate();
      expect(await refusal(secrets.rotate.rotate())).to.include("Two keys are in force already");
      kit.origin = "settings";
      expect(await refusal(secrets.rotate.rotate())).to.include("so it is rotated there");
    });

    it("are shown with what is sealed under each", async () => {
      await kit.anEndpointWith("whsec_1");
      await kit.anEndpointWith("whsec_2");
      await secrets.rotate.rotate();
      await kit.anEndpointWith("whsec_3");
      expect(await secrets.rotate.status()).to.deep.equal({
        state: await secrets.keyStates.find(),
        origin: "file",
        place: "/var/lib/secret.key",
        keys: [
          { id: SECOND, role: "current", sealedRows: 1 },
          { id: FIRST, role: "previous", sealedRows: 2 },
        ],
      });
    });

    it("are shown with keys that are not in force, though rows need them", async () => {
      keyring.secretKey = KEYS[2];
      const lost = await kit.anEndpointWith("whsec_1");
      keyring.secretKey = KEYS[0];
      const { keys } = await secrets.rotate.status();
      expect(keys).to.deep.equal([
        { id: FIRST, role: "current", sealedRows: 0 },
        { id: THIRD, role: "not in force", sealedRows: 1 },
      ]);
      await secrets.rotate.rotate();
      const refused = await refusal(secrets.rotate.retire({ force: false }, NEVER));
      expect(refused).to.include(`(1): ${lost}. The log says why.`);
    });

    it("are shown as accepted where rows have no key id", async () => {
      const endpoint = anEndpoint({ sealedSecret: "v1.c2VhbGVk" });
      await memory.storage.inTransaction((tx) => memory.storage.webhooks.insertEndpoint(tx, endpoint));
      const roles = async (): Promise<unknown> =>
        (await secrets.rotate.status()).keys.map(({ id, role }) => [id, role]);
      expect(await roles()).to.deep.equal([
        [FIRST, "current"],
        [NO_KEY_ID, "not in force"],
      ]);
      await memory.storage.inTransaction(async (tx) => {
        await secrets.keyStates.save(tx, { ...(await secrets.keyStates.lock(tx)), unnamed: FIRST });
      });
      expect(await roles()).to.deep.equal([
        [FIRST, "current"],
        [NO_KEY_ID, "accepted"],
      ]);
    });

    it("are one again once the old one is retired: everything is sealed with the new one", async () => {
      const id = await kit.anEndpointWith("whsec_1");
      await secrets.rotate.rotate();
      const retired = await secrets.rotate.retire({ force: false }, NEVER);
      expect(retired).to.deep.equal({
        state: { current: SECOND, previous: null, unnamed: null, rotatedAt: memory.clock.now() },
        retired: [FIRST],
        lost: [],
      });
      expect([await kit.keyOf(id), kit.held, keyring.previous]).to.deep.equal([SECOND, [SECOND], null]);
      expect(await new AesSecretBox(keyring).open((await kit.stored(id)).sealedSecret, id)).to.equal("whsec_1");
      const [record] = await memory.storage.auditLog.list({ limit: 1 });
      expect(record).to.deep.include({ action: "secrets.retire", fields: { retired: FIRST, forced: false, lost: 0 } });
      expect(await refusal(secrets.rotate.retire({ force: false }, NEVER))).to.include("There is nothing to retire");
    });

    it("are not retired while rows need the old one, unless an operator gives those up", async () => {
      const ids = await Promise.all(
        Array.from({ length: 12 }, async () => {
          const id = await kit.anEndpointWith("whsec_1");
          const swapped = new AesSecretBox(keyring).seal("whsec_1", "whe_other");
          await memory.storage.inTransaction(async (tx) =>
            memory.storage.webhooks.saveEndpoint(tx, { ...(await kit.stored(id)), sealedSecret: swapped }),
          );
          return id;
        }),
      );
      await secrets.rotate.rotate();
      const refused = await refusal(secrets.rotate.retire({ force: false }, NEVER));
      expect(refused).to.include("(12): ").and.include(" and 2 more. The log says why.");
      expect(await secrets.keyStates.find()).to.include({ previous: FIRST });
      expect(memory.logger.lines.at(-1)).to.include({
        level: "error",
        message: "A webhook endpoint's secret cannot be sealed again",
      });
      const { lost } = await secrets.rotate.retire({ force: true }, NEVER);
      expect([...lost].sort()).to.deep.equal(ids.sort());
      expect((await memory.storage.auditLog.list({ limit: 1 }))[0]?.fields).to.include({ forced: true, lost: 12 });
    });
  });
});
