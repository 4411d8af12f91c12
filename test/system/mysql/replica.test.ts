import { expect } from "chai";
import { dataOf } from "../../support/api-client.js";
import { type PrivateMysql, query } from "../../support/mysql-server.js";
import { eventually } from "../../support/rabbitmq.js";
import { ReplicatedMysql } from "../../support/replicated-mysql.js";
import { startTestApp, type TestAccount, type TestApp } from "../../support/test-app.js";

const LAG_SECONDS = 2;

const DAY_MS = 86_400_000;

/** Requests of an earlier day that are counted on the replica alone. */
const ON_REPLICA = 1_000_000;

/** Endpoints whose reads may be old, and the tables that only they read outside a transaction. */
const OLD: Readonly<Record<string, RegExp>> = {
  "/api/v1/logs": /fermata_request_log/,
  "/api/v1/usage": /fermata_request_counts/,
  "/api/v1/library/search?q=beat": /fermata_search_/,
};

const FRESH = ["/api/v1/credits", "/api/v1/generations", "/api/v1/events", "/api/v1/playlists", "/api/v1/models"];

/** What the replica writes by itself must not be in the way of what it replicates. */
const UNREPLICATED = "SET SESSION sql_log_bin = 0";
const LOG = "SET GLOBAL log_output = 'TABLE', general_log = ON; TRUNCATE TABLE mysql.general_log";

describe("Reads while the database replicates to a second server", function () {
  this.timeout(120_000);

  let mysql: ReplicatedMysql;
  let primary: PrivateMysql;
  let replica: PrivateMysql;
  let test: TestApp;
  let caller: TestAccount;

  before(async () => {
    mysql = await ReplicatedMysql.start();
    [primary, replica] = mysql.servers;
    const [url, readUrl] = mysql.servers.map((server) => mysql.url([mysql.placeOf(server)]));
    test = await startTestApp({ settings: { storage: { url, readUrl, readLagSeconds: LAG_SECONDS } }, work: true });
    caller = await test.account();
    const response = await caller.api.generate({ model_id: "scripted/beat", prompt: "a beat" });
    const { id } = dataOf<{ readonly id: string }>(response);
    await eventually(async () =>
      expect(dataOf(await caller.api.get(`/api/v1/generations/${id}`))).to.include({ status: "completed" }),
    );
    await mysql.caughtUp(replica, primary);
    const day = Math.floor(Date.now() / DAY_MS - 5) * DAY_MS;
    await runAlone(
      replica,
      "INSERT INTO fermata_request_counts (account_id, client, span, starts_at, route, status, requests) " +
        `VALUES ('${caller.account.id}', '*', 'day', ${day}, '/api/v1/credits', 200, ${ON_REPLICA})`,
    );
  });

  after(async () => {
    await test.close();
    await mysql.close();
  });

  async function runAlone(server: PrivateMysql, statements: string): Promise<void> {
    await query(`${mysql.rootUrl(server)}?multipleStatements=true`, `${UNREPLICATED}; ${statements}`);
  }

  async function isReadFromReplica(): Promise<boolean> {
    const response = await caller.api.get("/api/v1/usage?limit=1");
    expect(response.status, response.text).to.equal(200);
    return dataOf<{ readonly summary: { readonly requests: number } }>(response).summary.requests >= ON_REPLICA;
  }

  const comesFrom = (isReplica: boolean): Promise<void> =>
    eventually(async () => expect(await isReadFromReplica()).to.equal(isReplica));

  /** Reads of tables outside transactions on each server while this path is requested. */
  async function readsDuring(path: string): Promise<{ readonly onPrimary: string[]; readonly onReplica: string[] }> {
    for (const server of mysql.servers) await runAlone(server, LOG);
    const response = await caller.api.get(path);
    expect(response.status, response.text).to.equal(200);
    const [onPrimary = [], onReplica = []] = await Promise.all(
      mysql.servers.map(async ({ server }) => {
        const sql =
          "SELECT CONVERT(argument USING utf8mb4) AS text FROM mysql.general_log WHERE user_host LIKE 'fermata%'";
        const texts = (await query<{ readonly text: string }>(server, sql)).map(({ text }) => text);
        return texts.filter((text) => /^\s*SELECT .* FROM fermata_/s.test(text) && !/FOR UPDATE/.test(text));
      }),
    );
    return { onPrimary, onReplica };
  }

  it("are made there when they may be old, and none on the primary", async () => {
    await comesFrom(true);
    for (const [path, table] of Object.entries(OLD))
      // The maintenance may read the same meanwhile.
      await eventually(async () => {
        const { onPrimary, onReplica } = await readsDuring(path);
        const [there, here] = [onReplica, onPrimary].map((texts) => texts.filter((text) => table.test(text)));
        expect(there, path).not.to.deep.equal([]);
        expect(here, path).to.deep.equal([]);
      });
  });

  it("are made on the primary when a caller expects what it has just written", async () => {
    for (const path of FRESH) {
      const { onReplica } = await readsDuring(path);
      const others = onReplica.filter((text) => !text.includes("fermata_installation"));
      expect(others, path).to.deep.equal([]);
    }
  });

  it("go to the primary while replication is stopped, and back", async () => {
    await mysql.stopReplication(replica);
    await comesFrom(false);
    await mysql.follow(replica, primary);
    await comesFrom(true);
  });

  it("go to the primary while the replica lags further behind than they may, and back", async () => {
    await mysql.delay(replica, 10 * LAG_SECONDS);
    await comesFrom(false);
    await mysql.delay(replica, 0);
    await comesFrom(true);
  });

  const strikes = {
    killed: async (): Promise<void> => {
      await replica.kill();
    },
    frozen: () => replica.freeze(),
  };
  for (const [what, strike] of Object.entries(strikes))
    it(`go on from the primary, without an error, when the replica is ${what}`, async () => {
      await comesFrom(true);
      let longest = 0;
      const read = async (): Promise<boolean> => {
        const began = performance.now();
        const isReplica = await isReadFromReplica();
        longest = Math.max(longest, performance.now() - began);
        return isReplica;
      };
      const struck = strike();
      while (await read());
      await struck;
      await Promise.all(Array.from({ length: 20 }, read));
      process.stdout.write(`      ${Math.round(longest)} ms for the slowest read\n`);
      await replica.kill();
      await replica.start();
      await mysql.demote(replica);
      await mysql.follow(replica, primary);
      await comesFrom(true);
    });
});
