import { expect } from "chai";
import type { OpenApiDocument } from "../../adapters/http/openapi/model.js";
import { ApiClient, type ApiResponse, errorOf } from "../support/api-client.js";
import { UNHEARD } from "../support/library-fixture.js";
import { startTestApp, type TestAccount, type TestApp } from "../support/test-app.js";
import { OWNER_TOKEN } from "../api/admin/admin-client.js";
import { type DescribedOperation, operationsOf, sendTo } from "./operations.js";

/** API2:2023, https://owasp.org/API-Security/editions/2023/en/0xa2-broken-authentication/ */
describe("Who one is (OWASP API2)", () => {
  let test: TestApp;
  let caller: TestAccount;
  let operations: DescribedOperation[];
  let adminOperations: DescribedOperation[];
  before(async () => {
    const rateLimits = { authFailures: { perMinute: 1_000_000 } };
    test = await startTestApp({ ...UNHEARD, settings: { admin: { token: OWNER_TOKEN }, rateLimits } });
    caller = await test.account();
    operations = operationsOf((await test.anonymous.get("/openapi.json")).json as OpenApiDocument);
    adminOperations = operationsOf((await test.anonymous.get("/admin/v1/openapi.json")).json as OpenApiDocument);
  });
  after(() => test.close());

  function expectRefusal(response: ApiResponse, codes: readonly string[], what: string): void {
    expect(response.status, what).to.equal(401);
    expect(errorOf(response).code, what).to.be.oneOf(codes);
    expect(response.headers.get("www-authenticate"), what).to.match(/^Bearer/);
    expect(Object.keys(response.json as object), what).to.deep.equal(["error"]);
  }

  /** A key of which only what stands behind its prefix is another. */
  function withOtherSecret(key: string): string {
    return key.replace(/.{12}$/, (end) => [...end].reverse().join(""));
  }

  it("has to be proved for every operation, by an Authorization header alone", async () => {
    for (const operation of [...operations, ...adminOperations]) {
      const isPublic = operation.path.startsWith("/api/");
      const good = isPublic ? caller.key : OWNER_TOKEN;
      expectRefusal(await sendTo(test.anonymous, operation), ["authentication_required"], operation.name);
      for (const headers of [
        { "X-Api-Key": good },
        { Cookie: `token=${good}; session=${good}; fermata=${good}` },
        { Authorization: `Basic ${Buffer.from(`user:${good}`).toString("base64")}` },
      ] as readonly Readonly<Record<string, string>>[])
        expectRefusal(
          await sendTo(test.anonymous, operation, { headers }),
          ["authentication_required"],
          `${operation.name} ${JSON.stringify(headers)}`,
        );
      const inQuery = { ...operation, path: `${operation.path}?api_key=${good}&access_token=${good}` };
      expectRefusal(await sendTo(test.anonymous, inQuery), ["authentication_required"], operation.name);
    }
  });

  it("is refused for keys that were changed, invented, revoked or ended, and for those of the other API", async () => {
    const revoked = await test.account();
    await test.app.accounts.revokeKey(revoked.keyId);
    const deleted = await test.account();
    await test.app.accounts.delete(deleted.account.id);
    const keys = {
      "a changed secret": withOtherSecret(caller.key),
      "a changed checksum": `${caller.key.slice(0, -1)}${caller.key.endsWith("a") ? "b" : "a"}`,
      "a key cut short": caller.key.slice(0, -1),
      "a key made longer": `${caller.key}a`,
      "a key in capitals": caller.key.toUpperCase(),
      "the id of a key": caller.keyId,
      "the id of an account": caller.account.id,
      "a revoked key": revoked.key,
      "the key of a deleted account": deleted.key,
      "an admin token": OWNER_TOKEN,
    };
    for (const [what, key] of Object.entries(keys))
      for (const operation of operations.slice(0, 6))
        expectRefusal(
          await sendTo(new ApiClient(test.url, key), operation),
          ["invalid_api_key", "revoked_api_key"],
          `${operation.name} with ${what}`,
        );
    for (const key of [caller.key, withOtherSecret(OWNER_TOKEN), `${OWNER_TOKEN}x`])
      for (const operation of adminOperations.slice(0, 6))
        expectRefusal(
          await sendTo(new ApiClient(test.adminUrl?.replace("/admin/v1", "") ?? test.url, key), operation),
          ["invalid_api_key", "revoked_api_key", "authentication_required"],
          operation.name,
        );
  });

  it("is checked before an id, a body or a parameter is looked at", async () => {
    for (const operation of operations) {
      const { text: unknown } = await sendTo(test.anonymous, operation, { id: "none" });
      const { text: malformed } = await sendTo(test.anonymous, operation, {
        id: "%00",
        ...(operation.method === "GET" ? {} : { body: "{" }),
      });
      const shown = [unknown, malformed].map((text) => text.replace(/req_\w+/, ""));
      expect(shown[0], operation.name).to.equal(shown[1]);
    }
  });

  it("can be guessed 120 times a minute from one network, which holds for keys and tokens together", async () => {
    const guarded = await startTestApp({ ...UNHEARD, settings: { admin: { token: OWNER_TOKEN } } });
    try {
      const guesser = new ApiClient(guarded.url, withOtherSecret(caller.key));
      const answers: number[] = [];
      for (let guess = 0; guess < 130; guess += 1)
        answers.push((await guesser.get(guess % 2 === 0 ? "/api/v1/me" : "/admin/v1/me")).status);
      expect(answers.filter((status) => status === 401).length).to.be.at.most(120);
      expect(answers.at(-1)).to.equal(429);
      // Of who is known the guesses of a neighbour take nothing.
      expect((await (await guarded.account()).api.get("/api/v1/me")).status).to.equal(200);
    } finally {
      await guarded.close();
    }
  });

  it("is proved by a key of at least 190 bits, of which the server keeps no text", async () => {
    const secret = caller.key.split("_").at(-1) ?? "";
    expect(secret).to.match(/^[0-9A-Za-z]+$/);
    expect(secret.length * Math.log2(62)).to.be.at.least(190);
    const others = await Promise.all(Array.from({ length: 20 }, () => test.account()));
    expect(new Set(others.map(({ key }) => key.slice(0, -6))).size).to.equal(20);
    const exported = JSON.stringify(await test.app.accounts.get(caller.account.id));
    expect(exported).not.to.include(secret.slice(8));
  });
});
