import { expect } from "chai";
import { readFile } from "node:fs/promises";
import type { OpenApiDocument } from "../../adapters/http/openapi/model.js";
import { SCOPES } from "../../core/ports/scopes.js";
import { errorOf, refusalOf } from "../support/api-client.js";
import { UNHEARD } from "../support/library-fixture.js";
import { startTestApp, type TestApp } from "../support/test-app.js";

const README = "adapters/http/README.md";
/** What the table says where the description names no scope. */
const BY_SETTING = "none, or `http.webhookScope`";

interface Row {
  readonly operations: readonly string[];
  readonly scope: string;
  readonly allowance: string;
}

/** A row stands for each of its methods at each of its paths, as far as the description has them. */
function rowsOf(text: string): Row[] {
  const lines = text.split("\n").filter((line) => /^\| [A-Z, ]+ \| `\/api\/v1\/(?!session)/.test(line));
  return lines.map((line) => {
    const [methods = "", paths = "", scope = "", allowance = ""] = line.slice(2).split(" | ");
    const each = [...paths.matchAll(/`([^`]+)`/g)].map(([, path]) => path ?? "");
    return {
      operations: methods.split(", ").flatMap((method) => each.map((path) => `${method} ${path}`)),
      scope,
      allowance,
    };
  });
}

describe("The table of endpoints in adapters/http/README.md", () => {
  let test: TestApp;
  let document: OpenApiDocument;
  let rows: Row[];
  before(async () => {
    test = await startTestApp(UNHEARD);
    document = (await test.anonymous.get("/openapi.json")).json as OpenApiDocument;
    rows = rowsOf(await readFile(README, "utf8"));
  });
  after(() => test.close());

  it("has every operation once, with the scope that the description names", () => {
    const inTable = rows.flatMap(({ operations, scope }) =>
      operations.map((operation) => [operation, scope.replace(/`/g, "")]),
    );
    const described = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { security }]) => [
        `${method.toUpperCase()} ${path}`,
        security[0]?.["bearer"]?.[0] ?? BY_SETTING.replace(/`/g, ""),
      ]),
    );
    expect(inTable).to.have.deep.members(described);
  });

  it("names the allowance of reads for exactly the GETs", () => {
    for (const { operations, allowance } of rows)
      for (const operation of operations)
        expect(allowance === "reads", operation).to.equal(operation.startsWith("GET "));
  });

  it("names the allowance that a write draws on, as the response's headers show it", async () => {
    const { api } = await test.account();
    for (const { operations, allowance } of rows) {
      for (const operation of operations) {
        const [method = "", path = ""] = operation.split(" ");
        if (method === "GET") continue;
        const { headers } = await api.send(method, path.replace(/\{\w+\}/g, "none"));
        const shown = { writes: "write-minute", generations: "generation-minute" }[allowance];
        expect(headers.get("ratelimit"), operation).to.match(new RegExp(`^"${shown}"`));
      }
    }
  });

  it("names the scope without which the operation is refused, whatever other scopes a key has", async () => {
    for (const scope of SCOPES) {
      const { api } = await test.account({ scopes: SCOPES.filter((other) => other !== scope) });
      const ofScope = rows.filter((row) => row.scope.includes(scope)).flatMap(({ operations }) => operations);
      expect(ofScope, scope).not.to.deep.equal([]);
      for (const operation of ofScope) {
        const [method = "", path = ""] = operation.split(" ");
        const response = await api.send(method, path.replace(/\{\w+\}/g, "none"));
        expect([operation, refusalOf(response)]).to.deep.equal([operation, "403 insufficient_scope"]);
        expect(errorOf(response).details, operation).to.deep.equal({ required_scope: scope });
      }
    }
  });
});
