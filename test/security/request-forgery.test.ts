import { expect } from "chai";
import type { OpenApiDocument, Schema } from "../../adapters/http/openapi/model.js";
import { dataOf, errorOf } from "../support/api-client.js";
import { Canary } from "../support/canary.js";
import { UNHEARD } from "../support/library-fixture.js";
import { startTestApp, type TestAccount, type TestApp } from "../support/test-app.js";
import { OWNER_TOKEN } from "../api/admin/admin-client.js";
import { operationsOf } from "./operations.js";

/** Where a server should not be sent, and ways to write it. */
const INSIDE: readonly string[] = [
  ...["https://127.0.0.1/", "https://127.1/", "https://2130706433/", "https://0x7f000001/", "https://0177.0.0.1/"],
  ...[
    "https://127.0.0.1./",
    "https://[::1]/",
    "https://[::ffff:127.0.0.1]/",
    "https://[::ffff:7f00:1]/",
    "https://0.0.0.0/",
  ],
  ...["https://169.254.169.254/latest/meta-data/", "https://[fd00:ec2::254]/", "https://metadata.google.internal/"],
  ...["https://10.0.0.1/", "https://172.16.0.1/", "https://192.168.1.1/", "https://100.64.0.1/", "https://[fe80::1]/"],
  ...[
    "https://localhost/",
    "https://LOCALHOST./",
    "https://foo.localhost/",
    "https://[64:ff9b::7f00:1]/",
    "https://[2002:7f00:1::]/",
  ],
  ...["https://１２７.0.0.1/", "https://127。0。0。1/", "https://printer.local/", "https://db.internal/"],
  ...["https://127.0.0.1\\@example.com/", "https://example.com:443@127.0.0.1/", "https://example.com\n@127.0.0.1/"],
  ...[
    "http://example.com/",
    "file:///etc/passwd",
    "gopher://example.com/",
    "ftp://example.com/",
    "//example.com/",
    "javascript:1",
  ],
];

/** API7:2023, https://owasp.org/API-Security/editions/2023/en/0xa7-server-side-request-forgery/ */
describe("Where a caller can send the server (OWASP API7)", () => {
  let test: TestApp;
  let caller: TestAccount;
  let canary: Canary;
  before(async () => {
    canary = await Canary.open();
    test = await startTestApp({ ...UNHEARD, work: true, settings: { admin: { token: OWNER_TOKEN } } });
    caller = await test.account();
  });
  after(async () => {
    await test.close();
    await canary.close();
  });

  it("is asked by one operation alone: the address of a webhook endpoint", async () => {
    const named: string[] = [];
    for (const path of ["/openapi.json", "/admin/v1/openapi.json"]) {
      const document = (await test.anonymous.get(path)).json as OpenApiDocument;
      for (const { name, operation } of operationsOf(document)) {
        const schema = operation.requestBody?.content["application/json"]?.schema;
        if (schema !== undefined && hasUrl(schema, document)) named.push(name);
      }
    }
    expect(named).to.have.members(["POST /api/v1/webhook-endpoints", "PATCH /api/v1/webhook-endpoints/{id}"]);
  });

  it("is no address inside, however it is written, neither at first nor by a change", async () => {
    const headers = { "Content-Type": "application/json" };
    const made = await caller.api.send("POST", "/api/v1/webhook-endpoints", {
      headers,
      body: { url: "https://example.com/" },
    });
    const { id } = dataOf<{ id: string }>(made);
    const withPort = [`https://127.0.0.1:${canary.port}/`, `https://localhost:${canary.port}/`];
    for (const url of [...INSIDE, ...withPort])
      for (const [method, path] of [
        ["POST", ""],
        ["PATCH", `/${id}`],
      ] as const) {
        const refused = await caller.api.send(method, `/api/v1/webhook-endpoints${path}`, { headers, body: { url } });
        expect(refused.status, `${method} ${url}`).to.equal(400);
        expect(errorOf(refused).code, url).to.match(/^webhook_|^invalid_request$/);
      }
    const listed = await caller.api.get("/api/v1/webhook-endpoints");
    expect(
      dataOf<{ webhook_endpoints: { url: string }[] }>(listed).webhook_endpoints.map(({ url }) => url),
    ).to.deep.equal(["https://example.com/"]);
    expect(canary.connections).to.equal(0);
  });

  it("is nowhere by what a request's headers claim of its host", async () => {
    const elsewhere = `127.0.0.1:${canary.port}`;
    const headers = {
      "X-Forwarded-Host": elsewhere,
      Forwarded: `host=${elsewhere}`,
      "X-Forwarded-Proto": "gopher",
      Referer: `http://${elsewhere}/`,
    };
    const { id, status_url: url } = dataOf<{ id: string; status_url: string }>(
      await caller.api.generate(undefined, headers),
    );
    await test.app.generations.wait(id);
    expect(new URL(url).origin).to.equal(test.url);
    const { text } = await caller.api.get(`/api/v1/generations/${id}`, headers);
    expect(text).not.to.include(elsewhere);
    expect(canary.connections).to.equal(0);
  });
});

/** Whether a member of the schema is named like a URL, or has its form, at any depth. */
function hasUrl(schema: Schema, document: OpenApiDocument, depth = 0): boolean {
  if (depth > 8) return false;
  const { properties = {}, items, allOf = [], anyOf = [], additionalProperties: more } = schema;
  if (schema.format === "uri" || Object.keys(properties).some((name) => /ur[il]|link|href|host/i.test(name)))
    return true;
  const named = document.components.schemas[schema.$ref?.split("/").at(-1) ?? ""];
  const parts = [named, items, typeof more === "object" ? more : undefined, ...Object.values(properties)];
  return [...parts, ...allOf, ...anyOf].some((part) => part !== undefined && hasUrl(part, document, depth + 1));
}
