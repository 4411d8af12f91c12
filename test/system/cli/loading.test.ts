import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { useSandbox } from "../../support/process.js";

/** Appends the URL of each module that the process loads to the file that LOADED_MODULES names. */
const LOADER = `
import { appendFileSync } from "node:fs";
export async function load(url, context, next) {
  appendFileSync(process.env.LOADED_MODULES, url + "\\n");
  return next(url, context);
}`;
const asModule = (code: string): string => `data:text/javascript,${encodeURIComponent(code)}`;
const HOOK = asModule(`import { register } from "node:module"; register(${JSON.stringify(asModule(LOADER))});`);

describe("A command loads only what it needs", function () {
  this.timeout(30_000);
  const sandbox = useSandbox();

  async function loadedBy(args: readonly string[], dataDir: string): Promise<string> {
    const file = join(await sandbox.dataDir(), "modules");
    const fermata = sandbox.spawn(args, dataDir, { NODE_OPTIONS: `--import=${HOOK}`, LOADED_MODULES: file });
    const { code } = await fermata.exited;
    expect(code, fermata.stderr).to.equal(0);
    return readFile(file, "utf8");
  }

  it("and --help neither settings, storage nor the container", async () => {
    const loaded = await loadedBy(["--help"], await sandbox.dataDir());
    expect(loaded).to.match(/\/adapters\/cli\/program\.[jt]s/);
    expect(loaded).not.to.match(/\/adapters\/(storage|http)\/|\/node_modules\/(zod|knex|inversify|winston|express)\//);
  });

  it("and commands on the storage no HTTP server", async () => {
    const dataDir = await sandbox.dataDir();
    for (const args of [["migrate"], ["jobs", "list"]]) {
      const loaded = await loadedBy(args, dataDir);
      expect(loaded).to.match(/\/adapters\/storage\/sql\/index\.[jt]s/);
      expect(loaded).not.to.match(/\/node_modules\/express\//);
    }
  });
});
