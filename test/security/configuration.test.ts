import { expect } from "chai";
import type { OpenApiDocument } from "../../adapters/http/openapi/model.js";
import { dataOf, errorOf, rawRequest } from "../support/api-client.js";
import { LibraryFixture, UNHEARD } from "../support/library-fixture.js";
import { startTestApp, type TestApp } from "../support/test-app.js";
import { OWNER_TOKEN } from "../api/admin/admin-client.js";
import { anOwner, type Owner } from "./belongings.js";
import { operationsOf, sendTo } from "./operations.js";

/** API8:2023, https://owasp.org/API-Security/editions/2023/en/0xa8-security-misconfiguration/ */
describe("What a server is set to out of the box (OWASP API8)", () => {
  let test: TestApp;
  let library: LibraryFixture;
  let owner: Owner;
  before(async () => {
    test = await startTestApp({
      ...UNHEARD,
      work: true,
      settings: { admin: { token: OWNER_TOKEN }, studio: { enabled: true } },
    });
    library = await LibraryFixture.open(test.app);
    owner = await anOwner(test, library);
  });
  after(async () => {
    await library.close();
    await test.close();
  });

  const ORIGIN = { Origin: "https://evil.example" };

  it("serves every page under a policy that runs nothing from elsewhere and lets no one frame it", async () => {
    const { shareToken } = await test.app.library.manage.share(owner.track);
    for (const path of ["/", "/console", "/docs", `/share/${shareToken}`]) {
      const { status, headers } = await test.anonymous.get(path);
      expect([status, headers.get("content-type")], path).to.deep.equal([200, "text/html; charset=utf-8"]);
      const policy = headers.get("content-security-policy") ?? "";
      expect(policy, path).to.include("default-src 'none'").and.include("base-uri 'none'");
      expect(policy, path).not.to.match(/unsafe-inline|unsafe-eval|\*|script-src[^;]*(?:https?|data):/);
      expect(headers.get("x-content-type-options"), path).to.equal("nosniff");
      expect(headers.get("referrer-policy"), path).to.equal("no-referrer");
    }
  });

  it("lets scripts of other origins read neither API, whatever they send", async () => {
    for (const path of ["/api/v1/me", "/api/v1/credits", "/admin/v1/me", "/api/v1/session"])
      for (const method of ["GET", "OPTIONS"]) {
        const { headers } = await owner.api.send(method, path, {
          headers: {
            ...ORIGIN,
            "Access-Control-Request-Method": "GET",
            "Access-Control-Request-Headers": "authorization",
          },
        });
        for (const name of ["origin", "credentials", "headers", "methods"])
          expect(headers.get(`access-control-allow-${name}`), `${method} ${path}`).to.equal(null);
      }
  });

  it("lets scripts read what is open to all, without credentials", async () => {
    const { headers } = await test.anonymous.get("/openapi.json", ORIGIN);
    expect(headers.get("access-control-allow-origin")).to.equal("*");
    expect(headers.get("access-control-allow-credentials")).to.equal(null);
  });

  it("tells nothing of its inside in any refusal", async () => {
    const INSIDE =
      /\bat [\w.<>]+ \(|node:internal|node_modules|\/dist\/|\.[jt]s:\d+|SQLITE_|ER_[A-Z]+|select .+ from|knex/i;
    const operations = operationsOf((await test.anonymous.get("/openapi.json")).json as OpenApiDocument);
    for (const operation of operations)
      for (const request of [
        { id: "%00'\"`;--" },
        ...(operation.method === "GET" ? [] : [{ body: "{" }, { body: "null" }]),
      ]) {
        const { status, text } = await sendTo(owner.api, operation, request);
        expect(status, operation.name).to.be.below(500);
        if (status < 400) continue;
        expect(text, operation.name).not.to.match(INSIDE);
      }
  });

  it("takes no method but those that it needs", async () => {
    for (const method of ["TRACE", "TRACK", "CONNECT", "PROPFIND", "DEBUG"]) {
      const host = `Host: ${new URL(test.url).host}\r\nConnection: close`;
      const text = await rawRequest(
        test.url,
        `${method} /api/v1/me HTTP/1.1\r\n${host}\r\nX-Secret: echoed\r\n\r\n`,
        2_000,
      );
      expect(text, method).not.to.match(/^HTTP\/1\.1 2/);
      expect(text, method).not.to.include("echoed");
    }
  });

  it("has no account, key or token of its own that someone could know", async () => {
    const plain = await startTestApp(UNHEARD);
    try {
      for (const key of ["test", "admin", "demo", "changeme", "fermata", OWNER_TOKEN]) {
        const { status } = await plain.anonymous.get("/api/v1/me", { Authorization: `Bearer ${key}` });
        expect(status, key).to.equal(401);
      }
      expect(await plain.app.accounts.list({ limit: 10 })).to.deep.equal([]);
    } finally {
      await plain.close();
    }
  });

  it("answers what fails inside with a code and an id alone", async () => {
    const refused = await owner.api.get("/api/v1/jobs/job_unknown");
    expect(Object.keys(errorOf(refused))).to.deep.equal(["code", "message", "request_id"]);
    expect(dataOf(await owner.api.get("/api/v1/me"))).to.have.property("id", owner.account.id);
  });
});
