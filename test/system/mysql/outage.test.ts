import { expect } from "chai";
import { createMysqlDatabase } from "../../support/mysql.js";
import { type PrivateMysql, startPrivateMysql } from "../../support/mysql-server.js";
import { eventually } from "../../support/rabbitmq.js";
import { startTestApp, type TestAccount, type TestApp } from "../../support/test-app.js";

const BODY = { model_id: "scripted/beat", prompt: "a beat" };

describe("An outage of the MySQL server", function () {
  this.timeout(60_000);

  let server: PrivateMysql;
  let test: TestApp;
  let caller: TestAccount;

  before(async () => {
    server = await startPrivateMysql();
    const { url } = await createMysqlDatabase(server.server);
    test = await startTestApp({ settings: { storage: { url } }, work: true });
    caller = await test.account();
  });

  after(async () => {
    await test.close();
    await server.close();
  });

  it("returns 503 with Retry-After, loses nothing, and needs no restart", async () => {
    const accepted = await caller.api.generate(BODY, { "Idempotency-Key": "before" });
    expect(accepted.status).to.equal(202);

    await server.kill("SIGKILL");
    const refused = await Promise.all([
      caller.api.get("/api/v1/credits"),
      caller.api.generate(BODY, { "Idempotency-Key": "meanwhile" }),
      test.anonymous.get("/readyz"),
    ]);
    for (const response of refused) {
      expect(response.status).to.equal(503);
      expect(response.headers.get("Retry-After")).to.match(/^[1-9]\d*$/);
      expect(response.text).not.to.include("root");
    }

    await server.start();
    await eventually(async () => expect((await test.anonymous.get("/readyz")).status).to.equal(200));
    const replayed = await caller.api.generate(BODY, { "Idempotency-Key": "before" });
    expect([replayed.status, replayed.text]).to.deep.equal([202, accepted.text]);
    expect((await caller.api.generate(BODY, { "Idempotency-Key": "meanwhile" })).status).to.equal(202);
    await eventually(async () => {
      const { data } = (await caller.api.get("/api/v1/generations")).json as {
        readonly data: { readonly generations: readonly { status: string }[] };
      };
      expect(data.generations.map(({ status }) => status)).to.deep.equal(["completed", "completed"]);
    });
    expect((await test.app.credits.verify()).violations).to.deep.equal([]);
  });
});
