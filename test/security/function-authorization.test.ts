import { expect } from "chai";
import type { OpenApiDocument } from "../../adapters/http/openapi/model.js";
import { SCOPES } from "../../core/ports/scopes.js";
import { ApiClient, dataOf, errorOf } from "../support/api-client.js";
import { LibraryFixture, UNHEARD } from "../support/library-fixture.js";
import { startTestApp, type TestApp } from "../support/test-app.js";
import { OWNER_TOKEN } from "../api/admin/admin-client.js";
import { anOwner, type Owner } from "./belongings.js";
import { type DescribedOperation, operationsOf, sendTo } from "./operations.js";

const ROLES = ["read", "operate", "owner"] as const;

/** API5:2023, https://owasp.org/API-Security/editions/2023/en/0xa5-broken-function-level-authorization/ */
describe("What one may do (OWASP API5)", () => {
  let test: TestApp;
  let library: LibraryFixture;
  let owner: Owner;
  let operations: DescribedOperation[];
  let adminOperations: DescribedOperation[];
  before(async () => {
    test = await startTestApp({ ...UNHEARD, work: true, settings: { admin: { token: OWNER_TOKEN } } });
    library = await LibraryFixture.open(test.app);
    owner = await anOwner(test, library);
    operations = operationsOf((await test.anonymous.get("/openapi.json")).json as OpenApiDocument);
    adminOperations = operationsOf((await test.anonymous.get("/admin/v1/openapi.json")).json as OpenApiDocument);
  });
  after(async () => {
    await library.close();
    await test.close();
  });

  const admin = (token: string): ApiClient => new ApiClient(new URL(test.adminUrl ?? test.url).origin, token);

  it("needs exactly the documented scope: a key with all others is refused, and changes nothing", async () => {
    const before = await owner.look();
    let refusals = 0;
    for (const operation of operations) {
      const needed = operation.operation.security[0]?.["bearer"]?.[0];
      if (needed === undefined) continue;
      const { token } = await test.app.accounts.issueKey(owner.account.id, {
        scopes: SCOPES.filter((scope) => scope !== needed),
      });
      const refused = await sendTo(new ApiClient(test.url, token), operation, { id: owner.track });
      expect([refused.status, errorOf(refused).code], operation.name).to.deep.equal([403, "insufficient_scope"]);
      expect(errorOf(refused).details, operation.name).to.deep.equal({ required_scope: needed });
      refusals += 1;
      const { token: enough } = await test.app.accounts.issueKey(owner.account.id, { scopes: [needed] });
      const allowed = await sendTo(new ApiClient(test.url, enough), operation, { id: "none" });
      expect(allowed.status, operation.name).not.to.be.oneOf([401, 403]);
    }
    expect(refusals).to.be.greaterThan(20);
    expect(await owner.look()).to.not.include("taken over");
    expect((await owner.look()).length).to.be.at.least(before.length);
  });

  it("is not what operators may: no key of an account opens an operation of the admin API", async () => {
    for (const operation of adminOperations) {
      const refused = await sendTo(admin(owner.key), operation, { id: owner.account.id });
      expect(refused.status, operation.name).to.equal(401);
    }
  });

  it("needs at least the documented role of an operator, and no role below it will do", async () => {
    const tokens = Object.fromEntries(
      await Promise.all(
        ROLES.map(async (role) => {
          const made = await sendTo(admin(OWNER_TOKEN), tokenCreation(adminOperations), { body: { name: role, role } });
          return [role, dataOf<{ token: string }>(made).token] as const;
        }),
      ),
    ) as Record<(typeof ROLES)[number], string>;
    for (const operation of adminOperations) {
      const needed = ROLES.indexOf(operation.operation.security[0]?.["admin"]?.[0] as "read");
      expect(needed, operation.name).to.be.at.least(0);
      for (const [index, role] of ROLES.entries()) {
        // Where the role will do, the id that is not there keeps the operation from doing anything.
        if (index >= needed && operation.parameter === null) continue;
        const response = await sendTo(admin(tokens[role]), operation, { id: "none" });
        if (index < needed)
          expect([response.status, errorOf(response).code], `${operation.name} ${role}`).to.deep.equal([
            403,
            "insufficient_scope",
          ]);
        else expect(response.status, `${operation.name} ${role}`).not.to.be.oneOf([401, 403]);
      }
    }
  });

  it("does not follow from another method, another spelling of a path or a header that claims it", async () => {
    const { token } = await test.app.accounts.issueKey(owner.account.id, { scopes: ["models:read"] });
    const limited = new ApiClient(test.url, token);
    const claims = {
      "X-HTTP-Method-Override": "GET",
      "X-Original-URL": "/api/v1/models",
      "X-Rewrite-URL": "/api/v1/models",
    };
    for (const path of [
      "/api/v1/credits",
      "/api/v1/Credits",
      "/api/v1/credits/",
      "/api/v1//credits",
      "/api/v1/models/../credits",
      "/api/v1/%63redits",
    ])
      for (const method of ["GET", "HEAD"]) {
        const { status } = await limited.send(method, path, { headers: claims });
        expect(status, `${method} ${path}`).to.be.oneOf([403, 404]);
      }
    expect((await limited.send("POST", "/api/v1/credits", { headers: claims })).status).to.equal(405);
  });
});

function tokenCreation(operations: readonly DescribedOperation[]): DescribedOperation {
  const found = operations.find(({ name }) => name === "POST /admin/v1/tokens");
  if (found === undefined) throw new Error("No operation creates tokens.");
  return found;
}
