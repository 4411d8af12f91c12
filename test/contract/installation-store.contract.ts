import { expect } from "chai";
import type { StorageUnderTest } from "../support/databases.js";

export function installationStoreContract(name: string, open: () => Promise<StorageUnderTest>): void {
  describe(`InstallationStore contract: ${name}`, () => {
    let storage: StorageUnderTest;

    before(async () => {
      storage = await open();
    });

    after(() => storage.close());

    it("keeps the first value and answers it to everybody after", async () => {
      expect(await storage.installation.keepFirst("colour", "blue")).to.equal("blue");
      expect(await storage.installation.keepFirst("colour", "red")).to.equal("blue");
      expect(await storage.installation.keepFirst("colour", "blue")).to.equal("blue");
    });

    it("finds what is kept, and nothing where nothing is", async () => {
      await storage.installation.keepFirst("shape", "round");
      expect(await storage.installation.find("shape")).to.equal("round");
      expect(await storage.installation.find("taste")).to.equal(null);
    });

    it("keeps within a transaction what is kept with it, and nothing of one that fails", async () => {
      const { installation } = storage;
      await storage.inTransaction((tx) => installation.write(tx, "mood", "calm"));
      const failing = storage.inTransaction(async (tx) => {
        await installation.write(tx, "mood", "stormy");
        throw new Error("changed its mind");
      });
      expect(await failing.catch((error: unknown) => (error as Error).message)).to.equal("changed its mind");
      expect(await installation.find("mood")).to.equal("calm");
    });

    it("keeps names apart", async () => {
      await storage.installation.keepFirst("left", "1");
      expect(await storage.installation.keepFirst("right", "2")).to.equal("2");
    });

    it("replaces what is kept, or keeps it first, and leaves other names alone", async () => {
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

    it("reads and writes within a transaction, and leaves nothing of one that failed", async () => {
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

    it("lets none of many transactions miss what another wrote to a value that both lock", async () => {
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

    it("keeps one of the values that many replace together", async () => {
      const values = Array.from({ length: 8 }, (_, index) => `value ${index}`);
      await Promise.all(values.map((value) => storage.installation.keep("replaced", value)));
      expect(values).to.include(await storage.installation.find("replaced"));
    });

    it("answers one value to all who ask together", async () => {
      const values = Array.from({ length: 8 }, (_, index) => `value ${index}`);
      const kept = await Promise.all(values.map((value) => storage.installation.keepFirst("race", value)));
      expect(new Set(kept).size).to.equal(1);
      expect(values).to.include(kept[0]);
    });
  });
}
