import { expect } from "chai";
import { dataOf, refusalOf } from "../support/api-client.js";
import { startTestApp, type TestApp } from "../support/test-app.js";

describe("GET /api/v1/me", () => {
  let test: TestApp;
  before(async () => {
    test = await startTestApp();
  });
  after(() => test.close());

  it("returns the account of the key", async () => {
    const { account, api } = await test.account({ tier: "plus" });
    const response = await api.get("/api/v1/me");
    expect(response.status).to.equal(200);
    expect(response.json).to.deep.equal({
      data: { id: account.id, email_verified: false, account_tier: "plus", api_available: true },
    });
  });

  it("returns a changed tier within a second", async () => {
    const { account, api } = await test.account({ tier: "free" });
    await test.app.accounts.changeTier(account.id, "pro");
    expect(dataOf(await api.get("/api/v1/me"))["account_tier"]).to.equal("pro");
  });

  it("requires the scope profile:read", async () => {
    const { api } = await test.account({ scopes: ["credits:read"] });
    expect(refusalOf(await api.get("/api/v1/me"))).to.equal("403 insufficient_scope");
  });
});
