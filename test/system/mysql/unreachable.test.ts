import { expect } from "chai";
import { POOL_MAX } from "../../../adapters/storage/sql/mysql/options.js";
import { makeToken } from "../../../core/accounts/api-key.js";
import { SystemRandom } from "../../../adapters/system/random.js";
import { type ApiResponse, ApiClient } from "../../support/api-client.js";
import { createMysqlDatabase } from "../../support/mysql.js";
import { type MysqlRelay, openMysqlRelay } from "../../support/mysql-relay.js";
import { type PrivateMysql, query, startPrivateMysql } from "../../support/mysql-server.js";
import { eventually } from "../../support/process.js";
import { lockWait } from "../../support/stepping.js";
import { startTestApp, type TestAccount, type TestApp } from "../../support/test-app.js";
import { OtherCaller } from "./interrupted.js";

const BODY = { model_id: "scripted/song", prompt: "a beat" };

describe("An unavailable MySQL server", function () {
  this.timeout(60_000);

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

  function expectRefused(responses: readonly ApiResponse[]): void {
    for (const { status, headers, text } of responses) {
      expect(status, text).to.equal(503);
      expect(headers.get("Retry-After")).to.match(/^[1-9]\d*$/);
    }
  }

  /** Each kind of access: a read, a write, a load balancer's health check. */
  const askAll = (key: string): Promise<ApiResponse[]> =>
    Promise.all([
      caller.api.get("/api/v1/credits"),
      caller.api.generate(BODY, { "Idempotency-Key": key }),
      caller.api.get("/api/v1/generations"),
      test.anonymous.get("/readyz"),
    ]);

  async function expectRecovery(key: string): Promise<void> {
    await eventually("the app is ready", async () => (await test.anonymous.get("/readyz")).status === 200);
    const first = await caller.api.generate(BODY, { "Idempotency-Key": key });
    const again = await caller.api.generate(BODY, { "Idempotency-Key": key });
    expect([first.status, again.status, again.text]).to.deep.equal([202, 202, first.text]);
    // A full machine may be too slow to open all the connections of an audit at once.
    const audits: Awaited<ReturnType<typeof test.app.credits.verify>>[] = [];
    await eventually("the ledger can be audited", async () => {
      audits.push(
        ...(await test.app.credits.verify().then(
          (audit) => [audit],
          () => [],
        )),
      );
      return audits.length > 0;
    });
    expect(audits[0]?.violations).to.deep.equal([]);
  }

  const FAULTS: readonly (readonly [what: string, begin: () => unknown, end: () => unknown])[] = [
    ["refuses connections", () => relay.tcp.shut(), () => relay.tcp.reopen()],
    ["says nothing, as behind a network that lost it", () => relay.tcp.freeze(), () => relay.tcp.thaw()],
    ["hangs", () => server.freeze(), () => server.thaw()],
  ];

  for (const [what, begin, end] of FAULTS) {
    describe(`which ${what}`, () => {
      afterEach(async () => {
        await end();
        await eventually("the app is ready", async () => (await test.anonymous.get("/readyz")).status === 200);
      });

      it("causes 503 with Retry-After, for later requests too, and needs no restart", async () => {
        await askAll(`before ${what}`);
        await begin();
        expectRefused(await askAll(`while ${what}`));
        expectRefused(await askAll(`while ${what}`));
        await end();
        await expectRecovery(`while ${what}`);
        await begin();
      });
    });
  }

  it("in the middle of a statement blocks no request for ever", async () => {
    await caller.api.get("/api/v1/credits");
    const otherAccount = await OtherCaller.begin(url);
    const [last] = await query<{ seq: number }>(
      url,
      "SELECT ledger_seq AS seq FROM fermata_balances WHERE account_id = ?",
      [caller.account.id],
    );
    await otherAccount.run([
      "INSERT INTO fermata_ledger_entries (account_id, seq, kind, monthly, pack, reserved_monthly, reserved_pack, " +
        "spent, created_at) VALUES (?, ?, 'grant', 0, 0, 0, 0, 0, 0)",
      caller.account.id,
      String((last?.seq ?? 0) + 1),
    ]);
    const waiting = caller.api.generate(BODY, { "Idempotency-Key": "stuck" });
    await lockWait(url);
    await server.freeze();
    expectRefused([await waiting]);
    server.thaw();
    await otherAccount.end();
    await expectRecovery("stuck");
  });

  it("with a lost commit reply causes one response and one job", async () => {
    const before = await query(url, "SELECT id FROM fermata_jobs");
    const lost = relay.loseNext("COMMIT", "reply");
    const response = await caller.api.generate(BODY, { "Idempotency-Key": "a lost reply" });
    await lost;
    expect(response.status).to.equal(202);
    expect(await query(url, "SELECT id FROM fermata_jobs")).to.have.length(before.length + 1);
    await expectRecovery("a lost reply");
    expect(await query(url, "SELECT id FROM fermata_jobs")).to.have.length(before.length + 1);
  });

  it("with no free connections causes 503 with Retry-After, and needs no restart", async () => {
    const random = new SystemRandom();
    const otherAccounts = Array.from(
      { length: POOL_MAX + 4 },
      () =>
        new ApiClient(
          test.url,
          makeToken((count) => random.bytes(count)),
        ),
    );
    const schemaChange = await OtherCaller.begin(url);
    await schemaChange.run(["LOCK TABLES fermata_api_keys WRITE"]);
    expectRefused(await Promise.all(otherAccounts.map((otherAccount) => otherAccount.get("/api/v1/credits"))));
    await schemaChange.run(["UNLOCK TABLES"]);
    await schemaChange.end();
    await expectRecovery("after the schema change");
    expect((await (otherAccounts[0] as ApiClient).get("/api/v1/credits")).status).to.equal(401);
  });

  it("that hangs does not prevent the app from stopping", async () => {
    const { url: another } = await createMysqlDatabase(server.server);
    const stopping = await startTestApp({ settings: { storage: { url: relay.through(another) } } });
    relay.tcp.freeze();
    await stopping.close();
    relay.tcp.thaw();
  });
});
