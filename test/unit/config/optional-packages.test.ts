import { readFileSync } from "node:fs";
import Module from "node:module";
import { expect } from "chai";
import sinon from "sinon";
import { loadSettings } from "../../../config/load.js";
import { missingPackages, packagesOf, PACKAGE_USERS, requirePackages } from "../../../config/optional-packages.js";
import { repositoryPath } from "../../support/repository.js";

const { optionalDependencies } = JSON.parse(readFileSync(repositoryPath("package.json"), "utf8")) as {
  readonly optionalDependencies: Readonly<Record<string, string>>;
};

describe("Packages that only some settings need", () => {
  it("are the optional dependencies, each for a setting, and are in the table of config/README.md", () => {
    const needed = new Set(PACKAGE_USERS.flatMap((user) => packagesOf(user)));
    expect([...needed]).to.have.members(Object.keys(optionalDependencies));
    const readme = readFileSync(repositoryPath("config/README.md"), "utf8");
    const [, section = ""] = readme.split("## Packages that only some settings need");
    const [table = ""] = section.split("\n## ");
    for (const name of needed) expect(table).to.include(`\`${name}\``);
  });

  it("are all there where they were not left out", () => {
    const overrides = { audio: { url: "s3://music" }, queue: { url: "amqp://broker" } };
    requirePackages(loadSettings({ env: {}, cwd: "/", overrides }), PACKAGE_USERS);
  });

  it("are there where Node's resolution says so, as with Yarn's Plug'n'Play", () => {
    const resolution = Module as unknown as { _resolveFilename: (name: string, ...rest: unknown[]) => string };
    sinon.stub(resolution, "_resolveFilename").callsFake((name) => {
      if (name === "better-sqlite3") throw Object.assign(new Error("Not declared"), { code: "MODULE_NOT_FOUND" });
      return `/cache/${name}.zip/index.js`;
    });
    const missing = missingPackages(loadSettings({ env: {}, cwd: "/" }), PACKAGE_USERS);
    expect(missing.map(({ chosen }) => chosen)).to.deep.equal(["storage.url: sqlite:"]);
  });
});
