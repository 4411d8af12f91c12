import { expect } from "chai";
import { sqliteStorage, type SqliteUnderTest } from "../support/databases.js";

/** Of a transaction whose parts run side by side. */
describe("A transaction of SQLite that failed", () => {
  let storage: SqliteUnderTest;

  beforeEach(async () => {
    storage = await sqliteStorage.open();
  });

  afterEach(() => storage.close());

  it("writes nothing of a part that goes on after the rollback", async () => {
    const { database } = storage;
    let rolledBack: () => void = () => undefined;
    const over = new Promise<void>((resolve) => (rolledBack = resolve));
    let late: Promise<unknown> = Promise.resolve();
    const transaction = database.transaction(async (session) => {
      await session.run("INSERT INTO {installation} (name, value) VALUES ('early', '1')");
      late = over.then(() => session.run("INSERT INTO {installation} (name, value) VALUES ('late', '1')"));
      throw new Error("another part failed");
    });
    expect(await transaction.catch((error: Error) => error.message)).to.equal("another part failed");
    rolledBack();
    expect(await late.catch((error: Error) => error.name)).to.equal("AssertionError");
    const rows = await database.all("SELECT name FROM {installation} WHERE name IN ('early', 'late')");
    expect(rows).to.deep.equal([]);
  });
});
