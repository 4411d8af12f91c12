import { expect } from "chai";
import type { StorageWith } from "../support/storage-under-test.js";

type Storage = StorageWith<"installation">;

/**
 * The promises of every `InstallationStore`.
 *
 * @param open opens a storage without rows, once for the suite; {@link storageUnderTest} creates it
 */
export function installationStoreContract(name: string, open: () => Promise<Storage>): void {
  describe(`InstallationStore contract: ${name}`, () => {
    let storage: Storage;

    before(async () => {
      storage = await open();
    });

    after(() => storage.close());

    it("stores the first value and returns it to all later callers", async () => {
      expect(await storage.installation.keepFirst("colour", "blue")).to.equal("blue");
      expect(await storage.installation.keepFirst("colour", "red")).to.equal("blue");
      expect(await storage.installation.keepFirst("colour", "blue")).to.equal("blue");
    });

    it("finds stored values, and nothing under other names", async () => {
      await storage.installation.keepFirst("shape", "round");
      expect(await storage.installation.find("shape")).to.equal("round");
      expect(await storage.installation.find("taste")).to.equal(null);
    });

    it("stores a value with its transaction, and nothing of a failed one", async () => {
      const { installation } = storage;
      await storage.inTransaction((tx) => installation.write(tx, "mood", "calm"));
      const failing = storage.inTransaction(async (tx) => {
        await installation.write(tx, "mood", "stormy");
        throw new Error("changed its mind");
      });
      expect(await failing.catch((error: unknown) => (error as Error).message)).to.equal("changed its mind");
      expect(await installation.find("mood")).to.equal("calm");
    });

    it("separates names", async () => {
      await storage.installation.keepFirst("left", "1");
      expect(await storage.installation.keepFirst("right", "2")).to.equal("2");
    });

    it("replaces or inserts a value, and does not change other names", async () => {
      await storage.installation.keepFirst("mood", "calm");
      await storage.installation.keep("mood", "wild \u{1f3bc} ".repeat(1_000));
      await storage.installation.keep("tempo", "slow");
      expect(await storage.installation.find("mood")).to.equal("wild \u{1f3bc} ".repeat(1_000));
      expect(await storage.installation.find("tempo")).to.equal("slow");
      await storage.installation.keep("mood", "");
      expect(await storage.installation.find("mood")).to.equal("");
      expect(await storage.installation.keepFirst("mood", "sad")).to.equal("");
      expect(await storage.installation.find("tempo")).to.equal("slow");
    });

    it("reads and writes within a transaction, and stores nothing of a failed one", async () => {
      const { installation, inTransaction } = storage;
      await inTransaction((tx) => installation.write(tx, "weather", "fine"));
      expect(await inTransaction((tx) => installation.lock(tx, "weather"))).to.equal("fine");
      expect(await inTransaction((tx) => installation.lock(tx, "absent"))).to.equal(null);
      const failed = inTransaction(async (tx) => {
        await installation.write(tx, "weather", "rain");
        expect(await installation.lock(tx, "weather")).to.equal("rain");
        throw new Error("changed our minds");
      });
      expect(await failed.catch((error: Error) => error.message)).to.equal("changed our minds");
      expect(await installation.find("weather")).to.equal("fine");
    });

    it("locks a value without waiting: one of two transactions at a time holds it", async () => {
      const { installation, inTransaction } = storage;
      await installation.keep("held", "1");
      expect(await inTransaction((tx) => installation.tryLock(tx, "held"))).to.equal(true);
      expect(await inTransaction((tx) => installation.tryLock(tx, "nothing of this name"))).to.equal(false);
      let holding = 0;
      const held = await Promise.all(
        Array.from({ length: 6 }, () =>
          inTransaction(async (tx) => {
            if (!(await installation.tryLock(tx, "held"))) return false;
            expect(++holding).to.equal(1);
            await installation.write(tx, "held", "2");
            holding -= 1;
            return true;
          }),
        ),
      );
      expect(held).to.include(true);
      expect(await inTransaction((tx) => installation.tryLock(tx, "held"))).to.equal(true);
    });

    it("serializes transactions that lock the same value", async () => {
      const { installation, inTransaction } = storage;
      await installation.keep("counter", "0");
      await Promise.all(
        Array.from({ length: 8 }, () =>
          inTransaction(async (tx) => {
            const count = Number(await installation.lock(tx, "counter"));
            await installation.write(tx, "counter", String(count + 1));
          }),
        ),
      );
      expect(await installation.find("counter")).to.equal("8");
    });

    it("stores one of the values of concurrent replacements", async () => {
      const values = Array.from({ length: 8 }, (_, index) => `value ${index}`);
      await Promise.all(values.map((value) => storage.installation.keep("replaced", value)));
      expect(values).to.include(await storage.installation.find("replaced"));
    });

    it("returns one value to all concurrent callers", async () => {
      const values = Array.from({ length: 8 }, (_, index) => `value ${index}`);
      const kept = await Promise.all(values.map((value) => storage.installation.keepFirst("race", value)));
      expect(new Set(kept).size).to.equal(1);
      expect(values).to.include(kept[0]);
    });
  });
}
