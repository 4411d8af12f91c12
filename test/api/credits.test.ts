import { expect } from "chai";
import { ApiClient, dataOf, refusalOf } from "../support/api-client.js";
import { startTestApp, type TestApp } from "../support/test-app.js";

describe("GET /api/v1/credits", () => {
  let test: TestApp;
  before(async () => {
    test = await startTestApp();
  });
  after(() => test.close());

  it("returns both buckets, their sum and the total spent", async () => {
    const { account, api } = await test.account({ credits: 40 });
    await test.app.credits.grant(account.id, 2, { bucket: "pack" });
    const response = await api.get("/api/v1/credits");
    expect(response.status).to.equal(200);
    expect(response.json).to.deep.equal({
      data: { available: 42, monthly_credits: 40, pack_credits: 2, total_spent: 0 },
    });
  });

  it("subtracts reservations at once, monthly credits first", async () => {
    const { account, api } = await test.account({ credits: 4 });
    await test.app.credits.grant(account.id, 20, { bucket: "pack" });
    expect((await api.generate()).status).to.equal(202);
    expect(dataOf(await api.get("/api/v1/credits"))).to.deep.equal({
      available: 14,
      monthly_credits: 0,
      pack_credits: 14,
      total_spent: 0,
    });
  });

  it("requires the scope credits:read", async () => {
    const { api } = await test.account({ scopes: ["profile:read"] });
    expect(refusalOf(await api.get("/api/v1/credits"))).to.equal("403 insufficient_scope");
  });

  it("returns 401 without a key", async () => {
    expect(refusalOf(await new ApiClient(test.url, null).get("/api/v1/credits"))).to.equal(
      "401 authentication_required",
    );
  });
});
