import { expect } from "chai";
import type { OpenApiDocument } from "../../../adapters/http/openapi/model.js";
import type { AdminRole } from "../../../core/ports/admin-token.js";
import { type ApiResponse, dataOf, errorOf, issuePaths, refusalOf } from "../../support/api-client.js";
import { eventually } from "../../support/process.js";
import { startTestApp, type TestApp } from "../../support/test-app.js";
import { issuesIn } from "../json-schema.js";
import { AdminClient, OWNER_TOKEN, startAdminApp } from "./admin-client.js";

describe("The admin API", () => {
  let test: TestApp;
  let owner: AdminClient;
  let url: string;
  before(async () => {
    ({ test, owner, url } = await startAdminApp());
  });
  after(() => test.close());

  const tokenOf = async (role: AdminRole, name: string = role): Promise<AdminClient> =>
    new AdminClient(url, dataOf<{ token: string }>(await owner.send("POST", "/tokens", { name, role })).token);

  it("is off until there is a token or a port for it", async () => {
    const off = await startTestApp();
    try {
      expect(off.adminUrl).to.equal(null);
      expect(refusalOf(await off.anonymous.get("/admin/v1/me"))).to.equal("404 not_found");
    } finally {
      await off.close();
    }
  });

  it("is served at a port of its own, and not at that of the public API", async () => {
    const { test: own, owner: client } = await startAdminApp({ settings: { admin: { port: 0 } } });
    try {
      expect(own.adminUrl).not.to.include(own.url);
      expect(dataOf(await client.get("/me"))).to.deep.equal({ name: "admin.token", role: "owner" });
      expect(refusalOf(await own.anonymous.get("/admin/v1/me"))).to.equal("404 not_found");
      const admin = new AdminClient(own.adminUrl?.replace("/admin/v1", "") ?? "", OWNER_TOKEN);
      expect(refusalOf(await admin.get("/api/v1/me"))).to.equal("404 not_found");
    } finally {
      await own.close();
    }
  });

  it("refuses requests without a token, with one that is wrong, and with an API key", async () => {
    const { key } = await test.account();
    expect(refusalOf(await new AdminClient(url, null).get("/me"))).to.equal("401 authentication_required");
    expect(refusalOf(await new AdminClient(url, key).get("/me"))).to.equal("401 invalid_api_key");
    const wrong = await new AdminClient(url, `${OWNER_TOKEN}x`).get("/me");
    expect([refusalOf(wrong), errorOf(wrong).message]).to.deep.equal([
      "401 invalid_api_key",
      "The admin token is not valid.",
    ]);
  });

  it("counts wrong tokens as failed authentications of their address", async () => {
    const settings = { rateLimits: { authFailures: { perMinute: 2 } } };
    const { test: own, owner: client, url: place } = await startAdminApp({ settings });
    try {
      const wrong = new AdminClient(place, `${OWNER_TOKEN}x`);
      const refusals = [await wrong.get("/me"), await wrong.get("/me"), await wrong.get("/me")].map(refusalOf);
      expect(refusals).to.deep.equal(["401 invalid_api_key", "401 invalid_api_key", "429 rate_limited"]);
      expect((await client.get("/me")).status).to.equal(200);
    } finally {
      await own.close();
    }
  });

  it("issues tokens that work until they are revoked or expire, and never shows them again", async () => {
    const created = await owner.send("POST", "/tokens", { name: "ops on call", role: "operate" });
    expect(created.status).to.equal(201);
    const { token, ...shown } = dataOf<{ token: string; id: string }>(created);
    expect(token).to.match(/^fra_[0-9A-Za-z]{46}$/);
    const client = new AdminClient(url, token);
    expect(dataOf(await client.get("/me"))).to.deep.equal({ name: "ops on call", role: "operate" });
    const listed = await owner.get("/tokens");
    expect(dataOf<{ tokens: object[] }>(listed).tokens).to.deep.include(shown);
    expect(listed.text).not.to.include(token);
    expect(dataOf(await owner.delete(`/tokens/${shown.id}`))).to.deep.equal({ id: shown.id, revoked: true });
    await eventually("the token is refused", async () => (await client.get("/me")).status === 401);
    expect(refusalOf(await client.get("/me"))).to.equal("401 revoked_api_key");
    const past = { name: "x", role: "read", expires_at: "2020-01-01T00:00:00Z" };
    expect(refusalOf(await owner.send("POST", "/tokens", past))).to.equal("400 invalid_request");
    expect(refusalOf(await owner.delete("/tokens/adm_unknown"))).to.equal("404 not_found");
  });

  it("lets each role do what it may, and names the role that is missing", async () => {
    const { account } = await test.account();
    const [reader, operator] = [await tokenOf("read"), await tokenOf("operate")];
    const path = `/accounts/${account.id}`;
    expect((await reader.get(path)).status).to.equal(200);
    const refused = await reader.send("POST", `${path}/suspend`, {});
    expect([refusalOf(refused), errorOf(refused).details]).to.deep.equal([
      "403 insufficient_scope",
      { required_scope: "operate" },
    ]);
    expect((await operator.send("POST", `${path}/suspend`, {})).status).to.equal(200);
    expect((await operator.send("POST", `${path}/resume`)).status).to.equal(200);
    const grant = { amount: 5 };
    expect(refusalOf(await operator.send("POST", `${path}/credits/grants`, grant))).to.equal("403 insufficient_scope");
    expect(refusalOf(await operator.get("/tokens"))).to.equal("403 insufficient_scope");
    const rich = { name: "rich", tier: "free", credits: 5 };
    expect(refusalOf(await operator.send("POST", "/accounts", rich))).to.equal("403 insufficient_scope");
    expect((await owner.send("POST", `${path}/credits/grants`, grant)).status).to.equal(200);
  });

  it("records every change with who did it and why, and nothing for what is refused", async () => {
    const { account } = await test.account();
    const operator = await tokenOf("operate", "Zoë");
    await operator.send("POST", `/accounts/${account.id}/suspend`, { reason: "abuse" }, "Ticket 17: Missbrauch ☂");
    await operator.send("POST", `/accounts/${account.id}/credits/grants`, { amount: 1 });
    const { records } = dataOf<{ records: readonly object[] }>(await owner.get(`/audit?account=${account.id}&limit=1`));
    expect(records[0]).to.deep.include({
      actor: "Zoë (admin API)",
      action: "accounts.suspend",
      account: account.id,
      fields: { reason: "abuse", why: "Ticket 17: Missbrauch ☂" },
    });
    expect((await test.app.audit.verify()).broken).to.equal(null);
    // What the app does itself, at the same time, is its own.
    await Promise.all([test.app.credits.grant(account.id, 3), operator.send("POST", `/accounts/${account.id}/resume`)]);
    const both = await test.app.audit.list({ accountId: account.id, limit: 2 });
    expect(both.map(({ action, actor }) => `${action} by ${actor}`)).to.have.members([
      "credits.grant by app",
      "accounts.resume by Zoë (admin API)",
    ]);
  });

  it("refuses a reason that cannot be", async () => {
    const { account } = await test.account();
    const path = `/accounts/${account.id}/suspend`;
    for (const reason of ["x".repeat(201), " "]) {
      const refused = await owner.send("POST", path, {}, reason);
      expect([refusalOf(refused), issuePaths(refused)]).to.deep.equal(["400 invalid_request", ["header.X-Reason"]]);
    }
  });

  it("answers what is unknown with 404, another method with 405, and what is too much with its path", async () => {
    for (const path of ["/accounts/acct_x", "/jobs/job_x", "/webhook-endpoints/whe_x", "/nothing"])
      expect(refusalOf(await owner.get(path)), path).to.equal("404 not_found");
    expect(refusalOf(await owner.send("PUT", "/accounts", {}))).to.equal("405 method_not_allowed");
    expect(issuePaths(await owner.get("/accounts?limit=0"))).to.deep.equal(["query.limit"]);
    expect(issuePaths(await owner.send("POST", "/accounts", { name: "x", tier: "free", colour: 1 }))).to.deep.equal([
      "body.colour",
    ]);
    expect(issuePaths(await owner.get("/audit?action=none"))).to.deep.equal(["query.action"]);
  });

  it("describes itself: every operation with its role, its summary and the header for the reason", async () => {
    const document = (await test.anonymous.get("/admin/v1/openapi.json")).json as OpenApiDocument;
    expect([document.openapi, document.info.title]).to.deep.equal(["3.1.0", "Fermata admin"]);
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
    );
    for (const { path, method, operation } of operations) {
      expect(operation.summary, path).to.be.a("string");
      expect(operation.description, path).to.be.a("string");
      expect(operation.security[0]?.["admin"]?.[0], path).to.be.oneOf(["read", "operate", "owner"]);
      const takesReason = operation.parameters.some(({ name }) => name === "X-Reason");
      expect(takesReason, `${method} ${path}`).to.equal(method !== "get");
    }
    expect(operations.length).to.be.greaterThan(25);
    const upload = operations.find(({ operation }) => operation.operationId === "uploadTrack")?.operation.requestBody;
    expect(upload?.content["multipart/form-data"]?.schema.required).to.deep.equal(["audio"]);
  });

  it("describes what it sends: refusals, an export, members of two types, and what may be null", async () => {
    const { paths, components } = (await test.anonymous.get("/admin/v1/openapi.json")).json as OpenApiDocument;
    const { schemas } = components;
    const { account } = await test.account();
    const path = `/accounts/${account.id}`;
    const check = (template: string, method: string, response: ApiResponse): void => {
      const described = paths[`/admin/v1${template}`]?.[method]?.responses[response.status]?.content;
      expect(described, `${method} ${template} ${response.status}`).to.be.an("object");
      const schema = described?.["application/json"]?.schema;
      if (schema !== undefined) expect(issuesIn(response.json, schema, schemas), template).to.deep.equal([]);
    };
    check("/accounts/{id}", "get", await owner.get(path));
    check("/accounts/{id}", "get", await owner.get("/accounts/acct_unknown"));
    check("/accounts/{id}", "get", await new AdminClient(url, null).get(path));
    check("/accounts/{id}/keys", "post", await owner.send("POST", `${path}/keys`, { name: "ci" }));
    check("/accounts/{id}/keys", "post", await owner.send("POST", `${path}/keys`, { name: 5 }));
    check("/tokens", "post", await owner.send("POST", "/tokens", { name: "reader", role: "read" }));
    check("/accounts/{id}/credits/renewals", "post", await owner.send("POST", `${path}/credits/renewals`, {}));
    check("/audit", "get", await owner.get("/audit"));
    check("/accounts/{id}", "delete", await owner.delete(path));
    const exported = paths["/admin/v1/accounts/{id}/export"]?.["get"]?.responses["200"]?.content;
    expect(exported).to.have.all.keys("application/x-ndjson");
  });
});
