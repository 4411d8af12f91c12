import { expect } from "chai";
import { ServiceUnavailableError } from "../../core/errors.js";
import { sqliteStorage } from "../support/databases.js";
import { mysqlStorage } from "../support/mysql.js";

for (const { name, open } of [sqliteStorage, mysqlStorage]) {
  describe(`The storage's clock: ${name}`, () => {
    it("returns whole milliseconds since 1970", async () => {
      const storage = await open();
      try {
        for (let reading = 0; reading < 5; reading++) {
          const before = Date.now();
          const time = await storage.database.readTime();
          expect(Number.isSafeInteger(time)).to.equal(true);
          // The test server is on this machine.
          expect(time).to.be.within(before - 1, Date.now() + 1);
        }
      } finally {
        await storage.close();
      }
    });

    it("cannot be read after the storage is closed", async () => {
      const storage = await open();
      await storage.close();
      const refusal = await storage.database.readTime().catch((error: unknown) => error);
      expect(refusal).to.be.instanceOf(ServiceUnavailableError);
    });
  });
}
