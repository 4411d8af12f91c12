import { expect } from "chai";
import { ApiClient } from "../support/api-client.js";
import { UNHEARD } from "../support/library-fixture.js";
import { startTestApp, type TestAccount, type TestApp } from "../support/test-app.js";
import { OWNER_TOKEN } from "../api/admin/admin-client.js";

/** Where scanners look for what was forgotten. */
const FORGOTTEN: readonly string[] = [
  ...[
    "/api",
    "/api/v0/me",
    "/api/v2/me",
    "/api/me",
    "/v1/me",
    "/api/v1",
    "/api/v1/admin",
    "/api/internal",
    "/api/debug",
  ],
  ...[
    "/admin",
    "/admin/v0/me",
    "/admin/v2/me",
    "/admin/accounts",
    "/graphql",
    "/swagger",
    "/swagger-ui",
    "/swagger.json",
  ],
  ...[
    "/api-docs",
    "/openapi.yaml",
    "/debug",
    "/debug/pprof",
    "/actuator",
    "/actuator/env",
    "/server-status",
    "/status",
  ],
  ...["/env", "/.env", "/.git/config", "/.git/HEAD", "/.npmrc", "/package.json", "/fermata.yaml", "/fermata.sqlite"],
  ...["/node_modules/express/package.json", "/dist/config/main.js", "/routes", "/test", "/backup.sql", "/phpinfo.php"],
  ...[
    "/pages/../package.json",
    "/pages/%2e%2e/package.json",
    "/pages/..%2f..%2fpackage.json",
    "/pages/licences.txt%00.js",
  ],
  ...["/audio/../fermata.sqlite", "/audio/%2e%2e/secret", "/audio/..%2f..%2fetc%2fpasswd"],
];

/** API9:2023, https://owasp.org/API-Security/editions/2023/en/0xa9-improper-inventory-management/ */
describe("What is served (OWASP API9)", () => {
  let test: TestApp;
  let caller: TestAccount;
  before(async () => {
    test = await startTestApp({ ...UNHEARD, settings: { admin: { token: OWNER_TOKEN } } });
    caller = await test.account();
  });
  after(() => test.close());

  it("has nothing that no document names: neither other versions nor tools, files or folders", async () => {
    const clients = [test.anonymous, caller.api, new ApiClient(test.url, OWNER_TOKEN)];
    for (const path of FORGOTTEN)
      for (const client of clients) {
        const { status, text } = await client.get(path);
        expect(status, path).to.be.oneOf([400, 403, 404]);
        expect(text, path).not.to.match(/root:|SQLite format|"dependencies"|node_modules/);
      }
  });

  it("says which version it is, once, in the description alone", async () => {
    const { headers, json } = await test.anonymous.get("/openapi.json");
    expect(json).to.have.nested.property("info.x-fermata-version");
    for (const path of ["/", "/api/v1/me", "/healthz", "/nothing"]) {
      const response = await test.anonymous.get(path);
      for (const name of ["server", "x-powered-by", "x-version", "via"])
        expect(response.headers.get(name), `${path} ${name}`).to.equal(null);
    }
    expect(headers.get("server")).to.equal(null);
  });

  it("is nothing of the admin API until an operator sets a token or a port", async () => {
    const usual = await startTestApp(UNHEARD);
    try {
      for (const path of ["/admin/v1/me", "/admin/v1/openapi.json", "/console", "/admin/v1/session"])
        expect((await usual.anonymous.get(path)).status, path).to.equal(404);
      expect(usual.adminUrl).to.equal(null);
    } finally {
      await usual.close();
    }
  });
});
