import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { POOL_MAX } from "../../../adapters/storage/sql/mysql/options.js";
import { createMysqlDatabase } from "../../support/mysql.js";
import { type MysqlRelay, openMysqlRelay } from "../../support/mysql-relay.js";
import { type PrivateMysql, query, startPrivateMysql } from "../../support/mysql-server.js";
import { startTestApp, type TestAccount, type TestApp } from "../../support/test-app.js";

const BODY = { model_id: "scripted/song", prompt: "a beat" };
/** The time for which a pooled connection counts as alive without a check. */
const IDLE_MS = 700;

describe("The first request after a MySQL outage", function () {
  this.timeout(60_000);
  // A request waits 850 ms for a connection: a full machine may need longer to open one.
  this.retries(2);

  let server: PrivateMysql;
  let relay: MysqlRelay;
  let url: string;
  let test: TestApp;
  let caller: TestAccount;

  before(async () => {
    server = await startPrivateMysql();
    relay = await openMysqlRelay(server.server);
    ({ url } = await createMysqlDatabase(server.server));
    test = await startTestApp({ settings: { storage: { url: relay.through(url) } } });
    caller = await test.account();
  });

  after(async () => {
    await test.close();
    await relay.tcp.close();
    await server.close();
  });

  /** Fills the pool with connections that were all just used. */
  async function fillPool(): Promise<void> {
    await Promise.all(Array.from({ length: 3 * POOL_MAX }, () => caller.api.get("/api/v1/generations")));
  }

  const OUTAGES: Readonly<Record<string, () => Promise<void>>> = {
    "it ended its connections": async () => relay.tcp.cut(),
    "it ended connections that were idle": async () => {
      await pause(IDLE_MS);
      relay.tcp.cut();
    },
    "it refused connections for a moment": async () => {
      await relay.tcp.shut();
      expect((await caller.api.get("/api/v1/credits")).status).to.equal(503);
      await relay.tcp.reopen();
    },
    "it was restarted": async () => {
      await server.kill("SIGKILL");
      await server.start();
    },
    "the network resets the connections that are used": async () => relay.tcp.expire(),
    "the network resets the connections that were idle": async () => {
      await pause(IDLE_MS);
      relay.tcp.expire();
    },
  };

  for (const [what, outage] of Object.entries(OUTAGES)) {
    it(`is accepted, once, when ${what}`, async () => {
      await fillPool();
      const before = await query(url, "SELECT id FROM fermata_jobs");
      await outage();
      // A key of its own, also where the test is tried again: the try before may have been accepted without a response.
      const response = await caller.api.generate(BODY);
      expect(response.status, response.text).to.equal(202);
      expect(await query(url, "SELECT id FROM fermata_jobs")).to.have.length(before.length + 1);
      expect((await test.app.credits.verify()).violations).to.deep.equal([]);
    });
  }
});
