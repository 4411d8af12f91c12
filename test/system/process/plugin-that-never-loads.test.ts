import { execFile } from "node:child_process";
import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { repositoryPath } from "../../support/repository.js";

const PROVIDER_PACKAGE = new URL(`../../../config/provider-package${import.meta.url.slice(-3)}`, import.meta.url);

const LATE =
  "it did not finish loading within 0.2 s: a top-level `await` of it, or of a module that it imports, has not " +
  "settled; allowed: modules that wait for nothing while they load";

/** Modules that never finish, by what they leave to the event loop. */
const MODULES: Readonly<Record<string, string>> = {
  "nothing that holds the process": "await new Promise(() => {});\n",
  "a timer that holds the process": "setInterval(() => undefined, 1_000);\nawait new Promise(() => {});\n",
};

describe("A package whose module never finishes loading", function () {
  this.timeout(60_000);
  let folder: string;
  before(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), "fermata-never-loads-")));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  /** Loads a package in a process of its own, whose event loop nothing else holds. */
  async function load(use: string): Promise<{ readonly code: number; readonly stdout: string }> {
    const script = join(folder, "load.mjs");
    await writeFile(
      script,
      `import { importPackage } from ${JSON.stringify(PROVIDER_PACKAGE.href)};
      const places = { cwd: ${JSON.stringify(folder)}, pluginsDir: null };
      const message = await importPackage(${JSON.stringify(use)}, places, 200).then(() => "loaded", (e) => e.message);
      process.stdout.write(message, () => process.exit());\n`,
    );
    const args = [...process.execArgv, script];
    return new Promise((resolve) => {
      execFile(process.execPath, args, { cwd: repositoryPath(), timeout: 30_000 }, (error, stdout) => {
        resolve({ code: typeof error?.code === "number" ? error.code : error === null ? 0 : -1, stdout });
      });
    });
  }

  for (const [left, source] of Object.entries(MODULES)) {
    it(`is refused by its name after the limit where it leaves ${left}`, async () => {
      await writeFile(join(folder, "night.mjs"), source);
      expect(await load("./night.mjs")).to.deep.equal({ code: 0, stdout: `./night.mjs cannot be loaded: ${LATE}` });
    });
  }

  it("is refused in the same way where a module that it imports never finishes", async () => {
    await writeFile(join(folder, "inner.mjs"), "await new Promise(() => {});\n");
    await writeFile(join(folder, "outer.mjs"), 'import "./inner.mjs";\nexport default {};\n');
    expect(await load("./outer.mjs")).to.deep.equal({ code: 0, stdout: `./outer.mjs cannot be loaded: ${LATE}` });
  });

  it("is not what a module is that waits for a moment", async () => {
    await writeFile(join(folder, "soon.mjs"), "await new Promise((resolve) => setTimeout(resolve, 20));\n");
    expect(await load("./soon.mjs")).to.deep.equal({ code: 0, stdout: "loaded" });
  });
});
