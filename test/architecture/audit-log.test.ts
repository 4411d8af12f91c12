import { readdirSync, readFileSync } from "node:fs";
import { expect } from "chai";
import { repositoryPath } from "../support/repository.js";

describe("The table of the audit log", () => {
  const folder = repositoryPath("adapters", "storage", "sql");
  const sources = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
  const textOf = (name: string): string => readFileSync(`${folder}/${name}`, "utf8");

  it("is named only by its store and its migration, so that nothing purges it", () => {
    const found = sources.filter((name) => textOf(name).includes("audit_log"));
    expect(found.sort()).to.deep.equal(["accounts/audit-log.ts", "migrations/0021-audit.ts"]);
  });

  it("is appended to by its store, and never changed", () => {
    expect(textOf("accounts/audit-log.ts")).to.not.match(/DELETE|TRUNCATE|REPLACE|UPDATE audit_log|upsert/);
  });
});
