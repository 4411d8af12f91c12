import { expect } from "chai";
import { checkStorage } from "../../../adapters/storage/sql/doctor/doctor.js";
import { SILENT } from "../../support/databases.js";
import type { PrivateMysql } from "../../support/mysql-server.js";
import { openMysqlRelay } from "../../support/mysql-relay.js";
import { eventually } from "../../support/rabbitmq.js";
import { PASSWORD, ReplicatedMysql } from "../../support/replicated-mysql.js";
import { freePort } from "../../support/services.js";
import { startTestApp, type TestAccount, type TestApp } from "../../support/test-app.js";

/** Of every app on this storage. */
const secrets = { key: "0123456789abcdef0123456789abcdef" };
const BODY = { model_id: "scripted/beat", prompt: "a beat" };

describe("A storage on several hosts", function () {
  this.timeout(60_000);

  let mysql: ReplicatedMysql;
  let first: PrivateMysql;
  let second: PrivateMysql;
  let test: TestApp;
  let caller: TestAccount;

  before(async () => {
    mysql = await ReplicatedMysql.start();
    [first, second] = mysql.servers;
    // The replica comes first: it is not where the app writes.
    const url = mysql.url([mysql.placeOf(second), mysql.placeOf(first)]);
    test = await startTestApp({ settings: { storage: { url }, secrets }, work: true });
    caller = await test.account();
  });

  after(async () => {
    await test.close();
    await mysql.close();
  });

  /** Accepts the generation, however often it is refused meanwhile. */
  async function generate(key: string): Promise<string> {
    let text = "";
    await eventually(async () => {
      const response = await caller.api.generate(BODY, { "Idempotency-Key": key });
      expect(response.status, response.text).to.equal(202);
      text = response.text;
    });
    return text;
  }

  async function jobsOn(server: PrivateMysql): Promise<number> {
    const [row] = await mysql.on<{ jobs: number }>(server, "SELECT COUNT(*) AS jobs FROM fermata_jobs");
    return row?.jobs ?? 0;
  }

  async function completed(): Promise<number> {
    const { data } = (await caller.api.get("/api/v1/generations?limit=50")).json as {
      readonly data: { readonly generations: readonly { readonly status: string }[] };
    };
    return data.generations.filter(({ status }) => status === "completed").length;
  }

  it("is used on the one that takes writes, wherever it is in the list", async () => {
    await generate("before");
    await mysql.caughtUp(second, first);
    expect([await jobsOn(first), await jobsOn(second)]).to.deep.equal([1, 1]);
  });

  it("is checked by doctor, which names the host in use and why another is not", async () => {
    const away = `127.0.0.1:${await freePort()}`;
    const places = [away, mysql.placeOf(second), mysql.placeOf(first)];
    const checks = await checkStorage({ url: mysql.url(places), logger: SILENT });
    const hosts = checks.filter(({ name }) => name.startsWith("mysql host "));
    expect(hosts.map(({ name, result, message }) => [name, result, message])).to.deep.equal([
      [`mysql host ${away}`, "warning", `Not used: it lets no session in (connect ECONNREFUSED ${away}).`],
      [`mysql host ${mysql.placeOf(second)}`, "ok", "Not used: it only reads (read_only is on)."],
      [`mysql host ${mysql.placeOf(first)}`, "ok", "Used: it is the first that takes writes."],
    ]);
    expect(checks.find(({ name }) => name === "mysql connection")?.message).to.include(places.join(", "));
    const none = await checkStorage({ url: mysql.url([away, mysql.placeOf(second)]), logger: SILENT });
    const refusal = none.find(({ name }) => name === "mysql connection");
    expect(refusal).to.include({ result: "failed" });
    expect(refusal?.message).to.match(/no host takes writes: .*ECONNREFUSED.*; .*it only reads/);
    for (const { message, fix } of [...checks, ...none])
      for (const secret of [PASSWORD, encodeURIComponent(PASSWORD)])
        expect(`${message} ${fix ?? ""}`).not.to.include(secret);
  });

  it("follows a switchover: the old primary only reads, the replica is promoted", async () => {
    await mysql.demote(first);
    await mysql.caughtUp(second, first);
    await mysql.promote(second);
    await generate("switched");
    await eventually(async () => expect(await completed()).to.equal(2));
    expect([await jobsOn(first), await jobsOn(second)]).to.deep.equal([1, 2]);
    await mysql.follow(first, second);
  });

  it("follows a failover from a host that hangs, and stays when that one is back", async () => {
    await second.freeze();
    await mysql.promote(first);
    await generate("failed over");
    second.thaw();
    await mysql.demote(second);
    await generate("after");
    await eventually(async () => expect(await completed()).to.equal(4));
    expect([await jobsOn(first), await jobsOn(second)]).to.deep.equal([4, 2]);
    expect((await test.app.credits.verify()).violations).to.deep.equal([]);
    await mysql.follow(second, first);
  });

  it("finds on the next host what was committed on the last one without a reply", async () => {
    const relay = await openMysqlRelay(first.server);
    const url = mysql.url([relay.tcp.address, mysql.placeOf(second)]);
    const other = await startTestApp({ settings: { storage: { url }, secrets } });
    try {
      const { api } = await other.account({ credits: 100 });
      const lost = relay.loseNext("COMMIT", "reply").then(async () => {
        await relay.tcp.shut();
        await mysql.caughtUp(second, first);
        await mysql.demote(first);
        await mysql.promote(second);
      });
      const bodies: string[] = [];
      await eventually(async () => {
        const response = await api.generate(BODY, { "Idempotency-Key": "lost" });
        expect(response.status, response.text).to.equal(202);
        bodies.push(response.text);
      });
      await lost;
      bodies.push((await api.generate(BODY, { "Idempotency-Key": "lost" })).text);
      expect(new Set(bodies).size).to.equal(1);
      const { data } = (await api.get("/api/v1/generations")).json as { readonly data: { generations: object[] } };
      expect(data.generations).to.have.lengthOf(1);
      expect((await other.app.credits.verify()).violations).to.deep.equal([]);
    } finally {
      await other.close();
      await relay.tcp.shut();
    }
  });
});
