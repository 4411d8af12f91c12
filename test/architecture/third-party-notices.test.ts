import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect } from "chai";
import { repositoryPath } from "../support/repository.js";
import { thirdPartyNotices } from "../support/third-party-notices.js";

const PATH = repositoryPath(".github/THIRD-PARTY-NOTICES.md");
/** If set, the notices are written instead of compared. */
const isRewriting = process.env["FERMATA_TEST_REWRITE_NOTICES"] !== undefined;
/** MIT, ISC, BSD and Apache, also as a choice among several. */
const FREE = /^(?:MIT|ISC|0BSD|BSD-[23]-Clause|Apache-2\.0|BlueOak-1\.0\.0|\((?:[\w.-]+ OR )*MIT(?: OR [\w.-]+)*\))$/;

describe("The third-party notices", () => {
  it("are those of the production dependencies; npm run notices writes them again", () => {
    const notices = thirdPartyNotices();
    if (isRewriting) writeFileSync(PATH, notices);
    else expect(readFileSync(PATH, "utf8")).to.equal(notices);
  });

  it("name the components under the LGPL, with licence and source", () => {
    const notices = readFileSync(PATH, "utf8");
    for (const part of ["codec-parser", "libmpg123", "LAME"]) {
      const row = notices.split("\n").find((line) => line.startsWith(`| ${part}, `)) ?? "";
      expect(row, part).to.match(/LGPL-[\d.]+/);
      expect(row, part).to.match(/<https:/);
    }
    const linked = [...notices.matchAll(/\]\((licenses\/[^)]+)\)/g)].map(([, file]) =>
      join(dirname(PATH), file as string),
    );
    expect(linked).to.have.lengthOf(4);
    for (const file of linked)
      expect(readFileSync(file, "utf8")).to.match(/GNU (LESSER|LIBRARY)? ?GENERAL PUBLIC LICENSE/);
  });

  it("are of licences that ask for their text alone; of others each package is decided on by name", () => {
    const rows = [...readFileSync(PATH, "utf8").matchAll(/^\| (\S+) \| (\d\S*) \| ([^|]+) \| /gm)];
    expect(rows.length).to.be.greaterThan(100);
    const others = rows.filter(([, , , licence = ""]) => !FREE.test(licence.trim()));
    expect(others.map(([, name, , licence]) => `${name} ${licence?.trim()}`)).to.deep.equal([
      // Kept apart as its licence asks: the text is published, and the package can be exchanged.
      "codec-parser LGPL-3.0-or-later",
    ]);
  });

  it("are published with the package", () => {
    const { files } = JSON.parse(readFileSync(repositoryPath("package.json"), "utf8")) as {
      readonly files: readonly string[];
    };
    expect(files).to.include.members([".github/THIRD-PARTY-NOTICES.md", ".github/licenses"]);
  });
});

describe("The installed packages", () => {
  it("contain no telemetry", () => {
    const lock = JSON.parse(readFileSync(repositoryPath("package-lock.json"), "utf8")) as {
      packages: Record<string, object>;
    };
    const scarf = Object.keys(lock.packages).filter((path) => path.endsWith("node_modules/@scarf/scarf"));
    expect(scarf).to.deep.equal([]);
  });
});
