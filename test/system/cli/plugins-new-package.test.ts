import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect } from "chai";
import { COPIED, UNWRITTEN } from "../../../adapters/cli/scaffold.js";
import { BUILT_IN } from "../../../config/plugins.js";
import { REPOSITORY } from "../../support/repository.js";

describe("The package that `plugins new` writes", () => {
  it("is copied from files that the npm package has, of a plugin that is none of the built-in ones", async function () {
    this.timeout(60_000);
    const { stdout } = await promisify(execFile)("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
      cwd: REPOSITORY,
      maxBuffer: 64 * 1024 * 1024,
    });
    const [{ files }] = JSON.parse(stdout) as readonly [{ readonly files: readonly { readonly path: string }[] }];
    expect(files.map(({ path }) => path)).to.include.members([...Object.values(COPIED), UNWRITTEN]);
    expect(BUILT_IN).to.not.have.property("template");
  });
});
