import { expect } from "chai";
import { readFile } from "node:fs/promises";
import type { OpenApiDocument } from "../../adapters/http/openapi/model.js";
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
});
