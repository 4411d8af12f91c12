import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { invocationIn } from "../../../config/invocation.js";
import { REPOSITORY } from "../../support/repository.js";

describe("How fermata is called", () => {
  let folder: string;
  before(async () => (folder = await mkdtemp(join(tmpdir(), "fermata-unit-"))));
  after(() => rm(folder, { recursive: true, force: true }));

  it("is by npm's script in a checkout, by npx where it is a package, and by its name elsewhere", async () => {
    const installed = join(folder, "node_modules", "fermata-music");
    await mkdir(installed, { recursive: true });
    expect(invocationIn(REPOSITORY)).to.equal("npm run -s fermata --");
    expect(invocationIn(installed)).to.equal("npx fermata");
    expect(invocationIn(folder)).to.equal("fermata");
    const fetched = join(folder, "_npx", "0123456789abcdef", "node_modules", "fermata-music");
    expect(invocationIn(fetched)).to.equal("npx fermata-music");
  });
});
