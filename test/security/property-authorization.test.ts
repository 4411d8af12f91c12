import { expect } from "chai";
import type { OpenApiDocument } from "../../adapters/http/openapi/model.js";
import { ApiClient, dataOf, issuePaths } from "../support/api-client.js";
import { LibraryFixture, UNHEARD } from "../support/library-fixture.js";
import { startTestApp, type TestApp } from "../support/test-app.js";
import { OWNER_TOKEN, startAdminApp } from "../api/admin/admin-client.js";
import { anOwner, idFor, type Owner } from "./belongings.js";
import { type DescribedOperation, operationsOf, sendTo, undeclaredIn } from "./operations.js";

/** What a caller could try to set, and what would reach the prototype of an object. */
const UNASKED: readonly string[] = [
  '"account_id": "acct_other"',
  '"accountId": "acct_other"',
  '"credits": 1000000',
  '"credit_cost": 0',
  '"credits_reserved": 0',
  '"status_code": 200',
  '"tier": "pro"',
  '"scopes": ["credits:read"]',
  '"visibility": "public"',
  '"signing_secret": "whsec_AAAA"',
  '"created_at": "2020-01-01T00:00:00.000Z"',
  '"__proto__": { "isOwner": true }',
  '"constructor": { "prototype": { "isOwner": true } }',
];

/** API3:2023, https://owasp.org/API-Security/editions/2023/en/0xa3-broken-object-property-level-authorization/ */
describe("Which members of an object one may set and see (OWASP API3)", () => {
  let test: TestApp;
  let library: LibraryFixture;
  let owner: Owner;
  let document: OpenApiDocument;
  let operations: DescribedOperation[];
  before(async () => {
    test = await startTestApp({ ...UNHEARD, work: true });
    library = await LibraryFixture.open(test.app);
    owner = await anOwner(test, library);
    document = (await test.anonymous.get("/openapi.json")).json as OpenApiDocument;
    operations = operationsOf(document);
  });
  after(async () => {
    await library.close();
    await test.close();
  });

  const idOf = (operation: DescribedOperation): string => idFor(owner, operation) ?? "scripted/song";

  it("sets none but those that the description names, and changes nothing else with them", async () => {
    const writes = operations.filter(({ body }) => body !== undefined);
    expect(writes.length).to.be.greaterThan(5);
    const before = await owner.look();
    for (const operation of writes) {
      for (const member of UNASKED) {
        const name = /"(\w+)"/.exec(member)?.[1] ?? "";
        const text = JSON.stringify(operation.body).replace(
          /^\{/,
          `{${member}${operation.body === undefined ? "" : ","}`,
        );
        const body = text.replace(/,\}$/, "}");
        const refused = await sendTo(owner.api, operation, { id: idOf(operation), body });
        expect(refused.status, `${operation.name} ${member}`).to.equal(400);
        expect(issuePaths(refused).join(), `${operation.name} ${member}`).to.include(name);
      }
    }
    expect(await owner.look()).to.equal(before);
    expect(({} as { isOwner?: boolean }).isOwner).to.equal(undefined);
  });

  it("shows none but those that the description names, in every answer to a read", async () => {
    for (const operation of operations.filter(({ method }) => method === "GET")) {
      const media = operation.operation.responses["200"]?.content?.["application/json"];
      if (media === undefined) continue;
      const response = await sendTo(owner.api, operation, { id: idOf(operation) });
      expect(response.status, operation.name).to.equal(200);
      expect(undeclaredIn(response.json, media.schema, document), operation.name).to.deep.equal([]);
    }
  });

  it("shows a secret in the one answer that makes it, and in no other", async () => {
    const headers = { "Content-Type": "application/json" };
    const body = { url: "https://once.example.com/hook" };
    const { id, signing_secret: secret } = dataOf<{ id: string; signing_secret: string }>(
      await owner.api.send("POST", "/api/v1/webhook-endpoints", { headers, body }),
    );
    for (const operation of operations.filter(({ method }) => method === "GET" || method === "PATCH")) {
      const { text } = await sendTo(owner.api, operation, {
        id: operation.path.includes("webhook") ? id : idOf(operation),
      });
      expect(text, operation.name).not.to.include(secret);
      expect(text, operation.name).not.to.include(owner.key.slice(-20));
    }
  });
});

describe("Which members an operator sees (OWASP API3)", () => {
  it("are those of the description, without a secret", async () => {
    const { test, owner, url } = await startAdminApp({ ...UNHEARD, work: true });
    const library = await LibraryFixture.open(test.app);
    try {
      const account = await anOwner(test, library);
      const origin = url.replace("/admin/v1", "");
      const document = (await new ApiClient(origin, OWNER_TOKEN).get("/admin/v1/openapi.json")).json as OpenApiDocument;
      const reads = operationsOf(document).filter(({ method, path }) => method === "GET" && !path.endsWith("/export"));
      for (const operation of reads) {
        const response = await sendTo(new ApiClient(origin, OWNER_TOKEN), operation, {
          id: idFor(account, operation) ?? "",
        });
        expect(response.status, operation.name).to.equal(200);
        const schema = operation.operation.responses["200"]?.content?.["application/json"]?.schema;
        if (schema === undefined) continue;
        expect(undeclaredIn(response.json, schema, document), operation.name).to.deep.equal([]);
        for (const secret of [OWNER_TOKEN, account.key.slice(-20)])
          expect(response.text, operation.name).not.to.include(secret);
      }
      expect((await owner.get("/me")).status).to.equal(200);
    } finally {
      await library.close();
      await test.close();
    }
  });
});
