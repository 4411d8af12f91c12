import BetterSqlite3 from "better-sqlite3";
import { expect } from "chai";
import mysql from "mysql2/promise";
import { loadSettings } from "../../config/load.js";
import { compose } from "../../config/index.js";
import { dataOf } from "../support/api-client.js";
import { temporaryFolder } from "../support/databases.js";
import { HOST_POOLS } from "../support/host-pools.js";
import { createMysqlDatabase } from "../support/mysql.js";
import { startTestApp, type TestApp } from "../support/test-app.js";

const INPUT = { model_id: "scripted/song", prompt: "slow sad piano" };

/** A generation of a new account, to its end, by the API. */
async function generate(test: TestApp): Promise<string> {
  const { api } = await test.account({ credits: 100 });
  const created = await api.generate(INPUT, { Prefer: "wait=30" });
  const { status } = dataOf<{ status: string }>(created);
  const { available } = dataOf<{ available: number }>(await api.get("/api/v1/credits"));
  return `${status}, ${available} credits`;
}

describe("An app on a database of the app around it", () => {
  for (const kind of HOST_POOLS) {
    it(`does all its work on the connections of ${kind.name}, and leaves them to the app`, async () => {
      const { url, drop } = await createMysqlDatabase();
      const pool = await kind.open(url, [], 10);
      await pool.query("CREATE TABLE jobs (title VARCHAR(20) NOT NULL)");
      const test = await startTestApp({ database: pool.database, work: true });
      expect(await generate(test)).to.equal("completed, 90 credits");
      expect((await test.anonymous.get("/readyz")).status).to.equal(200);
      await pool.query("INSERT INTO jobs VALUES ('theirs')");
      await test.close();
      expect(pool.used()).to.equal(0);
      expect(await pool.query("SELECT title FROM jobs")).to.deep.equal([{ title: "theirs" }]);
      expect(await pool.query("SELECT status FROM fermata_jobs")).to.deep.equal([{ status: "completed" }]);
      await pool.close();
      await drop();
    });
  }

  it("joins transactions of the same pool", async () => {
    const { url, drop } = await createMysqlDatabase();
    const pool = mysql.createPool({ uri: url, connectionLimit: 4 });
    const test = await startTestApp({ database: pool });
    const { account } = await test.account({ credits: 0 });
    const connection = await pool.getConnection();
    for (const end of ["rollback", "commit"] as const) {
      await connection.beginTransaction();
      await test.app.credits.grant(account.id, 7, { bucket: "pack", reference: "order 17", transaction: connection });
      await connection[end]();
    }
    connection.release();
    expect(await test.app.credits.balance(account.id)).to.include({ pack: 7 });
    await test.close();
    await pool.end();
    await drop();
  });

  it("uses the file of an app's SQLite", async () => {
    const database = new BetterSqlite3(`${await temporaryFolder()}/app.sqlite`);
    const test = await startTestApp({ database, work: true });
    expect(await generate(test)).to.equal("completed, 90 credits");
    await test.close();
    expect(database.prepare("SELECT status FROM fermata_jobs").all()).to.deep.equal([{ status: "completed" }]);
    database.close();
  });

  it("refuses an old schema that it is not to change, and two storages at once", async () => {
    const database = new BetterSqlite3(`${await temporaryFolder()}/app.sqlite`);
    const settings = loadSettings({ env: {}, cwd: await temporaryFolder(), isTerminal: false });
    const refused = async (given: object, options = {}): Promise<string> =>
      compose(settings, given, options).then(
        () => "composed",
        (error: unknown) => (error as Error).message,
      );
    expect(await refused({ database }, { migrate: false })).to.match(/^The storage lacks 0001-accounts, .* migrate/);
    expect(await refused({ database, stores: {} })).to.include("stores and a database; allowed: one of them");
    database.close();
  });
});
