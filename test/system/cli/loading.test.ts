import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect } from "chai";
import { type Environment, useSandbox } from "../../support/process.js";

/** Appends the URL of each module that the process loads to the file that LOADED_MODULES names. */
const LOADER = `
import { appendFileSync } from "node:fs";
export async function load(url, context, next) {
  appendFileSync(process.env.LOADED_MODULES, url + "\\n");
  return next(url, context);
}`;
const asModule = (code: string): string => `data:text/javascript,${encodeURIComponent(code)}`;
/** What CommonJS modules load of each other is only in their cache. */
const HOOK = asModule(`
import { appendFileSync } from "node:fs";
import module, { register } from "node:module";
register(${JSON.stringify(asModule(LOADER))});
process.on("exit", () => appendFileSync(process.env.LOADED_MODULES, Object.keys(module._cache).join("\\n")));`);

describe("A command loads only what it needs", function () {
  this.timeout(30_000);
  const sandbox = useSandbox();

  async function loadedBy(args: readonly string[], dataDir: string, given: Environment = {}): Promise<string> {
    const file = join(await sandbox.dataDir(), "modules");
    const env = { NODE_OPTIONS: `--import=${HOOK}`, LOADED_MODULES: file, ...given };
    const fermata = sandbox.spawn(args, dataDir, env);
    const { code } = await fermata.exited;
    expect(code, fermata.stderr).to.equal(0);
    const loaded = await readFile(file, "utf8");
    const bundles = loaded.split("\n").filter((url) => /\/dist\/command\/[^/]+\.js$/.test(url));
    return [loaded, ...(await Promise.all(bundles.map(modulesIn)))].join("\n");
  }

  /** The modules that a file of the bundled command consists of: each has its path in a comment above it. */
  async function modulesIn(url: string): Promise<string> {
    const text = await readFile(new URL(url), "utf8");
    return [...text.matchAll(/^\/\/ ((?:dist|node_modules)\/.+)$/gm)].map(([, path]) => `/${path}`).join("\n");
  }

  it("and --help neither settings, storage nor the container", async () => {
    const loaded = await loadedBy(["--help"], await sandbox.dataDir());
    expect(loaded).to.match(/\/adapters\/cli\/program\.[jt]s/);
    expect(loaded).not.to.match(/\/adapters\/(storage|http)\/|\/node_modules\/(zod|knex|inversify|winston|express)\//);
  });

  it("and commands on the storage neither server, container, metrics nor clients of other services", async () => {
    const dataDir = await sandbox.dataDir();
    for (const args of [["migrate"], ["jobs", "list"], ["accounts", "list"]]) {
      const loaded = await loadedBy(args, dataDir);
      expect(loaded).to.match(/\/adapters\/storage\/sql\/index\.[jt]s/);
      expect(loaded, args.join(" ")).not.to.match(
        /\/node_modules\/(express|@tsoa|inversify|winston|prom-client|undici|amqplib|@aws-sdk|mysql2|ora|yaml)\//,
      );
    }
  });

  it("and the lists of plugins and models no storage, which need not be there", async () => {
    const dataDir = await sandbox.dataDir();
    const unreachable = { FERMATA_STORAGE__URL: "mysql://fermata:secret@127.0.0.1:1/fermata" };
    for (const args of [
      ["plugins", "list"],
      ["models", "list"],
    ]) {
      const loaded = await loadedBy(args, dataDir, unreachable);
      expect(loaded).to.match(/\/plugins\/synth\/index\.[jt]s/);
      expect(loaded, args.join(" ")).not.to.match(
        /\/adapters\/storage\/|\/node_modules\/(knex|mysql2|undici|inversify)\//,
      );
    }
    expect(await readdir(dataDir)).to.deep.equal([]);
  });

  it("and commands for callers neither settings, storage, plugins nor libraries", async () => {
    const dataDir = await sandbox.dataDir();
    const server = createServer((_request, response) => response.end('{"data":{"models":[]}}'));
    await once(server.listen(0, "127.0.0.1"), "listening");
    try {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const given = { FERMATA_URL: url, FERMATA_API_KEY: "frm_1" };
      const loaded = await loadedBy(["models", "list"], dataDir, given);
      expect(loaded).to.match(/\/adapters\/client\/generated\/client\.js/);
      expect(loaded).not.to.match(
        /\/adapters\/(storage|network|http)\/|\/plugins\/|\/config\/settings\.|\/node_modules\/(?!commander|tsx|esbuild|get-tsconfig)/,
      );
    } finally {
      server.close();
    }
  });
});
