import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { STATUS_BY_CODE } from "../../adapters/http/errors.js";
import { ERROR_CODES } from "../../core/error-codes.js";
import { REPOSITORY } from "../support/repository.js";

/** Code to status, as in the README's table. */
function documented(): Map<string, number> {
  const readme = readFileSync(join(REPOSITORY, "README.md"), "utf8");
  const section = readme.slice(readme.indexOf("\n## Errors\n"));
  const rows = section.matchAll(/^\| (\d{3}) \| (.+) \|$/gm);
  return new Map(
    [...rows].flatMap(([, status, codes = ""]) =>
      [...codes.matchAll(/`([a-z_]+)`/g)].map(([, code = ""]) => [code, Number(status)] as const),
    ),
  );
}

describe("The README's table of errors", () => {
  it("names every code with its status, and no other", () => {
    expect(Object.fromEntries([...documented()].sort())).to.deep.equal(
      Object.fromEntries(ERROR_CODES.map((code) => [code, STATUS_BY_CODE[code]] as const).sort()),
    );
  });
});
