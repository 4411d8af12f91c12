import { createRequire } from "node:module";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect } from "chai";
import { openPluginSandbox } from "../../../config/plugin-sandbox.js";
import { provideFermata } from "../../../config/plugin-imports.js";
import { importPackage } from "../../../config/provider-package.js";
import { ProviderFailure } from "../../../plugins/sdk/index.js";
import { ApiClient } from "../../support/api-client.js";
import { upload } from "../../support/audio-form.js";
import { SILENCE_WAV } from "../../support/library-fixture.js";
import { FermataCall, FermataProcess } from "../../support/process.js";
import { repositoryPath } from "../../support/repository.js";

const NAME = "fermata-night-owl";

const IMPORTS_SDK = 'import { ProviderFailure } from "fermata-music/provider";\nexport default { ProviderFailure };\n';
const REQUIRES_SDK =
  'const { ProviderFailure } = require("fermata-music/provider");\nmodule.exports = { ProviderFailure };\n';

/** What has the name of Fermata on a registry, or an older one of it. */
const ANOTHER_PROJECT = {
  "node_modules/fermata-music/package.json": JSON.stringify({
    name: "fermata-music",
    version: "0.0.1",
    exports: { "./provider": "./provider.cjs" },
  }),
  "node_modules/fermata-music/provider.cjs": "exports.ProviderFailure = class AnotherFailure extends Error {};",
};

type Files = Readonly<Record<string, string>>;

/** Files of the plugin's package, installed into a folder. */
function installed(manifest: object, files: Files): Files {
  const place = `node_modules/${NAME}`;
  const all = { "package.json": JSON.stringify({ name: NAME, version: "1.0.0", ...manifest }), ...files };
  return Object.fromEntries(Object.entries(all).map(([path, text]) => [`${place}/${path}`, text]));
}

const ESM = { type: "module", exports: { import: "./index.js" } };

describe("A folder that plugins are installed into", function () {
  this.timeout(60_000);
  let root: string;
  let count = 0;
  before(async () => {
    root = await realpath(await mkdtemp(join(tmpdir(), "fermata-plugins-dir-")));
  });
  after(() => rm(root, { recursive: true, force: true }));

  /** Node loads each module once: every test has a folder of its own. */
  async function folderWith(files: Files): Promise<string> {
    const folder = join(root, `folder-${(count += 1)}`);
    await mkdir(folder);
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), text);
    }
    return folder;
  }

  async function failureOf(files: Files, use = NAME): Promise<unknown> {
    const pluginsDir = await folderWith(files);
    return ((await importPackage(use, { cwd: root, pluginsDir })) as { ProviderFailure: unknown }).ProviderFailure;
  }

  const kinds: Readonly<Record<string, Files>> = {
    "an ES module": installed(ESM, { "index.js": IMPORTS_SDK }),
    "a CommonJS module": installed({ main: "./lib" }, { "lib/index.js": REQUIRES_SDK }),
    "an ES module that gets it from a CommonJS package next to it": {
      ...installed(ESM, { "index.js": 'export { default } from "shared";' }),
      "node_modules/shared/package.json": '{ "name": "shared" }',
      "node_modules/shared/index.js": REQUIRES_SDK,
    },
  };
  for (const [kind, files] of Object.entries(kinds)) {
    it(`lets ${kind} import the running Fermata where there is no other`, async () => {
      expect(await failureOf(files)).to.equal(ProviderFailure);
    });

    it(`lets ${kind} import the running Fermata where another project of its name is installed`, async () => {
      expect(await failureOf({ ...files, ...ANOTHER_PROJECT })).to.equal(ProviderFailure);
    });
  }

  it("is no condition: a plugin at a path imports the running Fermata as well", async () => {
    const folder = await folderWith({ ...ANOTHER_PROJECT, "owl.mjs": IMPORTS_SDK });
    const plugin = await importPackage("./owl.mjs", { cwd: folder, pluginsDir: null });
    expect(plugin).to.have.property("ProviderFailure", ProviderFailure);
  });

  it("may have the running Fermata in it, whose own files are not changed", async () => {
    provideFermata(repositoryPath());
    expect(await failureOf(kinds["a CommonJS module"] as Files)).to.equal(ProviderFailure);
    expect(createRequire(import.meta.url).resolve("fermata-music/provider")).to.include(repositoryPath("dist"));
  });

  it("does not change what other files import as fermata-music", async () => {
    const folder = await folderWith({ ...ANOTHER_PROJECT, "app.mjs": IMPORTS_SDK });
    await failureOf(kinds["an ES module"] as Files);
    const { default: app } = (await import(pathToFileURL(join(folder, "app.mjs")).href)) as {
      default: { ProviderFailure: { name: string } };
    };
    expect(app.ProviderFailure.name).to.equal("AnotherFailure");
  });

  it("is looked in before the working directory; of a missing package it says where it was looked for", async () => {
    const both = installed(ESM, { "index.js": "export default import.meta.url;" });
    const [first, second, empty] = [await folderWith(both), await folderWith(both), await folderWith({})];
    const entry = (folder: string): string => pathToFileURL(join(folder, "node_modules", NAME, "index.js")).href;
    expect(await importPackage(NAME, { cwd: second, pluginsDir: first })).to.equal(entry(first));
    expect(await importPackage(NAME, { cwd: second, pluginsDir: empty })).to.equal(entry(second));
    const error: unknown = await importPackage(NAME, { cwd: root, pluginsDir: empty }).catch((e: unknown) => e);
    expect((error as Error).message).to.equal(
      `${NAME} cannot be loaded: there is no such package in ${empty} or ${root}; ` +
        `npm install --prefix ${empty} ${NAME} installs it`,
    );
  });

  it("lets the sandbox of a plugin import the running Fermata", async () => {
    const handler =
      'import { ProviderFailure } from "fermata-music/provider";\n' +
      'export const handle = async () => ({ kind: new ProviderFailure("gone", "x").kind });\n';
    const files = installed(ESM, { "index.js": "export default import.meta.url;", "handler.js": handler });
    const pluginsDir = await folderWith(files);
    const url = (await importPackage(NAME, { cwd: root, pluginsDir })) as string;
    const limits = { memoryBytes: 256 * 1024 * 1024, cpuMs: 10_000, replyMs: 20_000, processes: 1 };
    const sandbox = openPluginSandbox(new URL("./handler.js", url), limits);
    try {
      expect(await sandbox.run((ask) => ask({}), AbortSignal.timeout(30_000))).to.deep.equal({ kind: "gone" });
    } finally {
      await sandbox.close();
    }
  });

  it("names file and line of a syntax error in a file that imports Fermata", async () => {
    const broken = installed(ESM, { "index.js": `${IMPORTS_SDK}const const;\n` });
    const pluginsDir = await folderWith(broken);
    const error: unknown = await importPackage(NAME, { cwd: root, pluginsDir }).catch((e: unknown) => e);
    const file = join(pluginsDir, "node_modules", NAME, "index.js");
    expect((error as Error).message).to.include(`cannot be loaded: syntax error in ${file}:3: `);
  });

  it("has the errors of the process that runs: an audio store that says what is too large is understood", async () => {
    const definition =
      'import { AudioTooLargeError, defineAdapter } from "fermata-music";\n' +
      'export default defineAdapter({ port: "audio", settings: {},\n' +
      '  schemes: { full: { form: "full:", rest: "nothing" } },\n' +
      "  open: async () => {\n" +
      "    const empty = async () => null;\n" +
      "    const put = async (key, source, maxBytes) => { throw new AudioTooLargeError(maxBytes); };\n" +
      "    return { put, stat: empty, read: empty, delete: empty, deleteAll: empty, list: async () => [] };\n" +
      "  } });\n";
    const folder = await folderWith(installed(ESM, { "index.js": definition }));
    const running = new FermataProcess(
      ["start"],
      {
        ...{ FERMATA_PLUGINS_DIR: folder, FERMATA_DATA_DIR: join(folder, "data"), FERMATA_HTTP__PORT: "0" },
        ...{ FERMATA_AUDIO__USE: NAME, FERMATA_AUDIO__URL: "full:" },
      },
      folder,
    );
    try {
      const api = new ApiClient(await running.listening(), await running.demoKey());
      expect((await upload(api, SILENCE_WAV)).status).to.equal(413);
    } finally {
      await running.kill();
    }
  });

  it("is the setting pluginsDir of a process", async () => {
    const definition =
      'import { defineProvider, PROVIDER_PORT_VERSION } from "fermata-music/provider";\n' +
      'export default defineProvider({ id: "night-owl", label: "Night Owl", portVersion: PROVIDER_PORT_VERSION,\n' +
      "  concurrency: 1, settings: {}, models: [],\n" +
      "  capabilities: { idempotentSubmit: false, lookup: false, cancel: false },\n" +
      '  create: () => ({ submit: () => Promise.reject(new Error("none")) }) });\n';
    const folder = await folderWith(installed(ESM, { "index.js": definition }));
    const env = { FERMATA_PLUGINS_DIR: folder, FERMATA_DATA_DIR: join(root, "data") };
    const check = new FermataCall(["plugins", "check", NAME, "--json"], env, root);
    await check.ended;
    expect(JSON.parse(check.stdout), check.stderr).to.deep.include({ id: "night-owl" });
    const used = { FERMATA_PLUGINS__NIGHT_OWL__ENABLED: "true", FERMATA_PLUGINS__NIGHT_OWL__USE: NAME };
    expect(await new FermataCall(["migrate"], env, root).ended).to.equal(0);
    const list = new FermataCall(["plugins", "list", "--json"], { ...env, ...used }, root);
    expect(await list.ended, list.stderr).to.equal(0);
    const { plugins } = JSON.parse(list.stdout) as { plugins: { id: string; source: string }[] };
    expect(plugins.find(({ id }) => id === "night-owl")).to.include({ source: NAME });
  });
});
