import { setImmediate as nextTurn } from "node:timers/promises";
import { expect } from "chai";
import { healthyProvider } from "../../core/providers/circuit-breaker.js";
import type { ProviderHealth } from "../../core/ports/provider-health-store.js";
import { NOON } from "../support/builders.js";
import type { StorageWith } from "../support/storage-under-test.js";

type Storage = StorageWith<"health">;

/**
 * The promises of every `ProviderHealthStore`.
 *
 * @param open opens a storage without rows, once for the suite; {@link storageUnderTest} creates it
 */
export function providerHealthStoreContract(name: string, open: () => Promise<Storage>): void {
  describe(`ProviderHealthStore contract: ${name}`, () => {
    let storage: Storage;
    before(async () => {
      storage = await open();
    });
    after(() => storage.close());

    const save = (health: ProviderHealth): Promise<void> =>
      storage.inTransaction((tx) => storage.health.saveHealth(tx, health));
    const lock = (providerId: string): Promise<ProviderHealth | null> =>
      storage.inTransaction((tx) => storage.health.lockHealth(tx, providerId));

    // First of all: every other test saves some.
    it("lists nothing before the first failure", async () => {
      expect(await storage.health.listHealth()).to.deep.equal([]);
      expect(await lock("unknown")).to.equal(null);
    });

    it("returns the last saved state", async () => {
      const first = { providerId: "mureka", failures: 3, openedAt: null, trialUntil: null };
      const second = { providerId: "mureka", failures: 5, openedAt: NOON, trialUntil: NOON + 1 };
      await save(first);
      expect(await lock("mureka")).to.deep.equal(first);
      await save(second);
      expect(await lock("mureka")).to.deep.equal(second);
      await save(healthyProvider("mureka"));
      expect(await lock("mureka")).to.deep.equal(healthyProvider("mureka"));
    });

    it("lists every provider that has a state", async () => {
      const [one, two] = [
        healthyProvider("beatoven"),
        { providerId: "loudly", failures: 1, openedAt: NOON, trialUntil: null },
      ];
      await save(one);
      await save(two);
      expect(await storage.health.listHealth()).to.deep.include.members([one, two]);
    });

    it("stores the health of a model separately from its provider's, with ids of maximum length", async () => {
      const id = `${"p".repeat(30)}/${"m".repeat(69)}`;
      const model = { providerId: id, failures: 2, openedAt: NOON, trialUntil: null };
      await save(model);
      expect(await lock(id)).to.deep.equal(model);
      expect(await lock("p".repeat(30))).to.equal(null);
    });

    it("counts every failure of concurrent reports", async () => {
      const report = (): Promise<void> =>
        storage.inTransaction(async (tx) => {
          const health = (await storage.health.lockHealth(tx, "flaky")) ?? healthyProvider("flaky");
          await nextTurn();
          await storage.health.saveHealth(tx, { ...health, failures: health.failures + 1 });
        });
      await Promise.all(Array.from({ length: 10 }, report));
      expect(await lock("flaky")).to.include({ failures: 10 });
    });
  });
}
