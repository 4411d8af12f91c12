import { expect } from "chai";
import { openHostDatabase } from "../../adapters/storage/sql/index.js";
import type { Connections } from "../../adapters/storage/sql/dialect.js";
import { findHostDatabase } from "../../adapters/storage/sql/host-database.js";
import { MIGRATIONS } from "../../adapters/storage/sql/migrations/index.js";
import { borrowMysql } from "../../adapters/storage/sql/mysql/borrowed-pool.js";
import { connectMysql } from "../../adapters/storage/sql/mysql/connections.js";
import { MIGRATION_LOCK } from "../../adapters/storage/sql/mysql/options.js";
import { TableNames } from "../../adapters/storage/sql/table-names.js";
import { SILENT } from "../support/databases.js";
import { HOST_POOLS, type HostPool } from "../support/host-pools.js";
import { createMysqlDatabase } from "../support/mysql.js";
import { query } from "../support/mysql-server.js";

const IGNORED = (): void => undefined;
const CONNECT = {
  log: { debug: IGNORED, warn: IGNORED, error: IGNORED, deprecate: IGNORED },
  lockWaitMs: 1_000,
  names: new TableNames("fermata_"),
};
/** Longer than a handle keeps an idle connection of the app elsewhere. */
const PAUSE_MS = 150;

async function pass(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms));
}

async function connectTo({ database }: HostPool): Promise<Connections> {
  const found = findHostDatabase(database);
  return found.engine === "mysql" ? borrowMysql(found.borrow, CONNECT) : expect.fail("it is no pool of MySQL");
}

/** What becomes of a statement of a migration whose connection the server has ended. */
async function afterLoss(connections: Connections, url: string): Promise<string> {
  return connections.alone(async (handle) => {
    const [rows] = await handle.raw<{ id: number }[][]>("SELECT CONNECTION_ID() AS id");
    await query(url, `KILL ${rows?.[0]?.id}`);
    await pass(PAUSE_MS);
    const tried = async (): Promise<string> => handle.raw("SELECT 1").then(() => "done", String);
    await tried(); // where the loss was not noticed yet
    return tried();
  });
}

for (const kind of HOST_POOLS) {
  describe(`Migrations on an app's pool: ${kind.name}`, () => {
    let url: string;
    let drop: () => Promise<void>;
    let pools: HostPool[];
    beforeEach(async () => {
      ({ url, drop } = await createMysqlDatabase());
      // Each as in a process of its own.
      pools = await Promise.all([1, 2, 3].map(() => kind.open(url)));
    });
    afterEach(async () => {
      expect(pools.map((pool) => pool.used())).to.deep.equal([0, 0, 0]);
      await Promise.all(pools.map((pool) => pool.close()));
      expect(await query(url, `SELECT IS_FREE_LOCK(${MIGRATION_LOCK}) AS free`)).to.deep.equal([{ free: 1 }]);
      await drop();
    });

    it("are made by one of several processes at once, while the others wait", async () => {
      const databases = await Promise.all(pools.map((pool) => openHostDatabase(pool.database, { logger: SILENT })));
      const applied = await Promise.all(databases.map((database) => database.migrate()));
      const names = MIGRATIONS.map(({ name }) => name);
      expect(applied.sort((a, b) => b.length - a.length)).to.deep.equal([names, [], []]);
      expect(await query(url, "SELECT name FROM fermata_migrations ORDER BY id")).to.deep.equal(
        names.map((name) => ({ name })),
      );
      await Promise.all(databases.map((database) => database.close()));
    });

    it("hold their lock between two statements, until the end", async () => {
      const order: string[] = [];
      const migrate = async (pool: HostPool, name: string): Promise<void> =>
        (await connectTo(pool)).alone(async (handle) => {
          order.push(`${name} begins`);
          await pass(PAUSE_MS);
          await handle.raw("SELECT 1");
          await pass(PAUSE_MS);
          order.push(`${name} ends`);
        });
      const [one, other] = pools as [HostPool, HostPool];
      const first = migrate(one, "one");
      while (order.length === 0) await pass(5);
      await Promise.all([first, migrate(other, "other")]);
      expect(order).to.deep.equal(["one begins", "one ends", "other begins", "other ends"]);
      // The next migration of the same process begins on the connection that came back.
      await migrate(one, "one again");
    });

    it("end with their connection: on another one they would not be alone", async () => {
      const [pool] = pools as [HostPool];
      expect(await afterLoss(await connectTo(pool), url)).to.include("the one that migrates was lost");
    });
  });
}

describe("Migrations on connections of our own", () => {
  it("end with their connection as well", async () => {
    const { url, drop } = await createMysqlDatabase();
    const connections = await connectMysql(url.slice("mysql:".length), CONNECT);
    expect(await afterLoss(connections, url)).to.include("the one that migrates was lost");
    await connections.close();
    await drop();
  });
});
