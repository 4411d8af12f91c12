import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { STATUS_BY_CODE } from "../../adapters/http/errors.js";
import { ERROR_CODES } from "../../core/error-codes.js";
import { REPOSITORY } from "../support/repository.js";

const EXPECTED = sorted(ERROR_CODES.map((code) => [code, STATUS_BY_CODE[code]]));

function sorted(pairs: readonly (readonly [string, number])[]): Readonly<Record<string, number>> {
  return Object.fromEntries([...pairs].sort());
}

/** Code to status, as in the README's table. */
function inReadme(): Readonly<Record<string, number>> {
  const readme = readFileSync(join(REPOSITORY, "README.md"), "utf8");
  const section = readme.slice(readme.indexOf("\n## Errors\n"));
  const rows = section.matchAll(/^\| (\d{3}) \| (.+) \|$/gm);
  return sorted(
    [...rows].flatMap(([, status, codes = ""]) =>
      [...codes.matchAll(/`([a-z_]+)`/g)].map(([, code = ""]) => [code, Number(status)] as const),
    ),
  );
}

/** Code to status, as in the tables of the guide. */
function inGuide(): Readonly<Record<string, number>> {
  const guide = readFileSync(join(REPOSITORY, "adapters/http/guides/errors.md"), "utf8");
  const rows = [...guide.matchAll(/^\| `([a-z_]+)` \| (\d{3}) \| .+ \|$/gm)];
  expect(rows.map(([, code]) => code)).to.have.length(new Set(rows.map(([, code]) => code)).size);
  return sorted(rows.map(([, code = "", status]) => [code, Number(status)]));
}

describe("The README's table of errors", () => {
  it("names every code with its status, and no other", () => {
    expect(inReadme()).to.deep.equal(EXPECTED);
  });
});

describe("The guide of errors", () => {
  it("explains every code with its status, once, and no other", () => {
    expect(inGuide()).to.deep.equal(EXPECTED);
  });
});
