import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { REPOSITORY } from "../support/repository.js";

const read = (path: string): string => readFileSync(join(REPOSITORY, path), "utf8");

/** The rows of the tables of promises: `| promise | test |`. */
function promises(): readonly (readonly string[])[] {
  const tables = read(".github/SECURITY.md").split("\n| Promise | Test |\n|---|---|\n").slice(1);
  const rows = tables.flatMap((table) => (table.split("\n\n")[0] ?? "").trim().split("\n"));
  return rows.map((row) => row.slice(2, -2).split(" | "));
}

describe("The threat model of .github/SECURITY.md", () => {
  it("makes promises", () => {
    expect(promises()).not.to.be.empty;
  });

  for (const [promise = "", proof = "", ...more] of promises()) {
    it(`names an existing test for: ${promise}`, () => {
      const [, file = "", title = ""] = /^`(test\/[^`]+)` › `([^`]+)`$/.exec(proof) ?? [];
      expect([file === "", more], `a file and a title, as \`test/…\` › \`title\`, not ${proof}`).to.deep.equal([
        false,
        [],
      ]);
      expect(read(file), `a test of this title in ${file}`).to.include(title);
    });
  }
});
