import { expect } from "chai";
import type { OpenApiDocument } from "../../../adapters/http/openapi/model.js";
import { ADMIN_ROLES, type AdminRole } from "../../../core/ports/admin-token.js";
import { ApiClient, dataOf, errorOf, refusalOf } from "../../support/api-client.js";
import type { TestApp } from "../../support/test-app.js";
import { type AdminClient, startAdminApp } from "./admin-client.js";

/** What costs or cannot be taken back, or shows everything of an account. */
const FOR_OWNERS = [
  "DELETE /accounts/{id}",
  "DELETE /tokens/{id}",
  "GET /accounts/{id}/export",
  "GET /tokens",
  "POST /accounts/{id}/credits/grants",
  "POST /accounts/{id}/credits/renewals",
  "POST /keys/revoke-all",
  "POST /secrets/retire",
  "POST /secrets/rotate",
  "POST /tokens",
];

/** They change nothing: they go through all rows. */
const READING_POSTS = ["POST /audit/verify", "POST /ledger/verify"];

describe("Roles of the admin API", () => {
  let test: TestApp;
  let owner: AdminClient;
  let url: string;
  let operations: readonly { readonly method: string; readonly path: string; readonly role: AdminRole }[];
  before(async () => {
    ({ test, owner, url } = await startAdminApp());
    const document = (await test.anonymous.get("/admin/v1/openapi.json")).json as OpenApiDocument;
    operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { security }]) => {
        const [role] = security[0]?.["admin"] ?? [];
        return { method, path, role: role as AdminRole };
      }),
    );
  });
  after(() => test.close());

  it("are named by every operation: owners for what costs, more than readers for what changes something", () => {
    const nameOf = ({ method, path }: (typeof operations)[number]): string =>
      `${method.toUpperCase()} ${path.replace("/admin/v1", "")}`;
    for (const operation of operations) expect(ADMIN_ROLES, nameOf(operation)).to.include(operation.role);
    expect(operations.filter(({ role }) => role === "owner").map(nameOf)).to.have.members(FOR_OWNERS);
    const changing = operations.filter(({ method, role }) => method !== "get" && role === "read");
    expect(changing.map(nameOf)).to.have.members(READING_POSTS);
  });

  it("keep every lower role from the operation, whatever is sent to it", async () => {
    const clients = new Map<AdminRole, ApiClient>();
    for (const role of ADMIN_ROLES) {
      const issued = dataOf<{ token: string }>(await owner.send("POST", "/tokens", { name: role, role }));
      clients.set(role, new ApiClient(url.replace(/\/admin\/v1$/, ""), issued.token));
    }
    for (const { method, path, role } of operations) {
      for (const lower of ADMIN_ROLES.slice(0, ADMIN_ROLES.indexOf(role))) {
        const place = path.replace(/\{\w+\}/g, "none");
        const response = await clients.get(lower)?.send(method.toUpperCase(), place);
        const operation = `${method} ${path} by ${lower}`;
        expect([operation, response && refusalOf(response)]).to.deep.equal([operation, "403 insufficient_scope"]);
        expect(response && errorOf(response).details, operation).to.deep.equal({ required_scope: role });
      }
    }
  });
});
