import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { BUILT_IN_ADAPTERS, formsOf } from "../../../config/adapters/built-in.js";
import { ADAPTER_PORTS, adapterIssues, openedIssues } from "../../../config/adapters/definition-issues.js";
import { LoadedAdapter, type LoadedAdapters, loadAdapters } from "../../../config/adapters/load.js";
import type { AdapterDefinition } from "../../../core/ports/adapter.js";
import { loadSettings } from "../../../config/load.js";
import { describeSettings } from "../../../config/settings.js";
import { SettingsError } from "../../../config/settings/issues.js";
import { SILENT, TEST_PORTS } from "../../support/databases.js";

const HOST = { ...TEST_PORTS, logger: SILENT };

const MEMBERS = `
  portVersion: 1,
  schemes: { pigeon: { form: "pigeon:PATH", rest: "path" } },
  settings: {
    token: { type: "string", required: true, secret: true, description: "Of the pigeon" },
    wings: { type: "integer", default: 2, minimum: 2, description: "How many" },
  },`;

const QUEUE = `export default {
  port: "queue",${MEMBERS}
  open: async ({ url, settings }) => ({
    ...{ notify() {}, async prepare() {}, async listen() {}, async close() {} },
    async check() { throw new Error(JSON.stringify([url, settings])); },
  }),
};`;

describe("The adapters that come with Fermata", () => {
  it("are definitions like any other, and each URL has one", () => {
    for (const adapter of BUILT_IN_ADAPTERS) expect(adapterIssues(adapter)).to.deep.equal([]);
    const schemes = BUILT_IN_ADAPTERS.flatMap((adapter) => Object.keys(adapter.schemes));
    expect(schemes).to.deep.equal(["sqlite", "mysql", "memory", "amqp", "amqps", "file", "s3"]);
    expect(new Set(schemes).size).to.equal(schemes.length);
    for (const port of ADAPTER_PORTS) expect(Object.keys(formsOf(port))).to.not.deep.equal([]);
  });

  it("take their own settings from the group of their port, where each is documented", () => {
    const known = describeSettings().map(({ path }) => path);
    for (const { port, settings } of BUILT_IN_ADAPTERS)
      for (const name of Object.keys(settings)) expect(known).to.include(`${port}.${name}`);
  });
});

describe("adapterIssues", () => {
  it("names everything that is wrong with a definition, all at once", () => {
    expect(adapterIssues(undefined)).to.deep.equal([
      "its default export is no adapter; allowed: what `defineAdapter` returns",
    ]);
    const wrong = {
      port: "stream",
      portVersion: 2,
      schemes: { "Redis!": { form: "redis:", rest: "all" }, nats: 1 },
      settings: { apiKey: { type: "text" } },
      check: "yes",
      listen: true,
    };
    expect(adapterIssues(wrong)).to.deep.equal([
      "it speaks port version 2; this Fermata speaks 1",
      'port: "stream"; allowed: storage, queue, audio',
      "schemes.Redis!: no scheme of a URL; allowed: lower-case letters, digits, +, . and -",
      'schemes.Redis!.form: "redis:"; allowed: an example that begins with Redis!:',
      'schemes.Redis!.rest: "all"; allowed: path, nothing, server, database',
      "schemes.nats: 1; allowed: { form, rest }",
      'settings.apiKey.type: "text"; allowed: string, integer, boolean',
      "settings.apiKey.description: missing; operators read it",
      "open: missing; allowed: a function that opens the adapter",
      'check: "yes"; allowed: a function',
      "listen: an adapter has no such member; allowed: port, portVersion, schemes, settings, open, check",
    ]);
    expect(adapterIssues({ ...wrong, schemes: {} })).to.include(
      "schemes: {}; allowed: an object, a member for each scheme of its URLs",
    );
  });

  it("names what an open adapter lacks", () => {
    expect(openedIssues("queue", null)).to.have.lengthOf(1);
    expect(openedIssues("queue", { notify: () => undefined })).to.deep.equal(
      ["prepare", "listen", "check", "close"].map((name) => `${name}: missing; every queue has this method`),
    );
    expect(openedIssues("storage", { stores: { jobs: {} } })).to.include("stores.accounts: missing");
    expect(openedIssues("storage", {})).to.deep.equal(["stores: missing; allowed: an object with every store"]);
  });
});

describe("Adapters that the settings name", () => {
  let folder: string;
  before(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), "fermata-adapters-")));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  let count = 0;
  async function file(text: string): Promise<string> {
    const path = join(folder, `adapter-${(count += 1)}.mjs`);
    await writeFile(path, text);
    return path;
  }

  const load = (env: Readonly<Record<string, string>>): Promise<LoadedAdapters> =>
    loadAdapters(loadSettings({ env, cwd: folder, isTerminal: false }));

  async function issuesOf(env: Readonly<Record<string, string>>): Promise<readonly string[]> {
    const error: unknown = await load(env).then(
      () => new Error("nothing is wrong"),
      (caught: unknown) => caught,
    );
    if (error instanceof SettingsError) return error.lines;
    throw error;
  }

  it("get the URL with an absolute path, and their own settings, checked and with defaults", async () => {
    const env = {
      FERMATA_QUEUE__USE: await file(QUEUE),
      FERMATA_QUEUE__URL: "pigeon:/var/nest",
      FERMATA_QUEUE__OPTIONS__TOKEN: "coo",
    };
    const adapter = (await load(env)).get("queue");
    expect(adapter.source).to.equal(env.FERMATA_QUEUE__USE);
    const queue = await adapter.open(HOST);
    const error = (await queue.check().catch((caught: unknown) => caught)) as Error;
    expect(JSON.parse(error.message)).to.deep.equal(["pigeon:/var/nest", { token: "coo", wings: 2 }]);
  });

  it("are refused, all issues at once, with every secret masked", async () => {
    const use = await file(QUEUE);
    const env = {
      FERMATA_QUEUE__USE: use,
      FERMATA_QUEUE__URL: "redis://user:letmein@127.0.0.1",
      FERMATA_QUEUE__OPTIONS__WINGS: "1",
      FERMATA_QUEUE__OPTIONS__BEAK: "long",
      FERMATA_AUDIO__USE: join(folder, "absent.mjs"),
      FERMATA_AUDIO__URL: "put://music.example",
    };
    const lines = await issuesOf(env);
    expect(lines.join("\n")).to.not.include("letmein");
    expect(lines.map((line) => line.replace(folder, "…"))).to.deep.equal([
      'queue.url: "redis://[redacted]@127.0.0.1" is not allowed; allowed: pigeon:PATH',
      "queue.options.beak (FERMATA_QUEUE__OPTIONS__BEAK): unknown setting",
      "queue.options.token: missing; set it, or FERMATA_QUEUE__OPTIONS__TOKEN; allowed: a text that is not empty",
      'queue.options.wings (FERMATA_QUEUE__OPTIONS__WINGS): "1" is not allowed; allowed: an integer of at least 2',
      `audio.use: …/absent.mjs cannot be loaded: ENOENT: no such file or directory, lstat '${folder}/absent.mjs'`,
    ]);
  });

  it("have to be adapters, and of the port that names them", async () => {
    const url = "pigeon:nest";
    const plain = await file("export default { notify() {} };");
    const [noAdapter = ""] = await issuesOf({ FERMATA_QUEUE__USE: plain, FERMATA_QUEUE__URL: url });
    expect(noAdapter).to.include(`queue.use (${plain}): it speaks port version `);
    expect(noAdapter).to.include("; schemes: missing; allowed: ");
    const use = await file(QUEUE);
    expect(await issuesOf({ FERMATA_AUDIO__USE: use, FERMATA_AUDIO__URL: url })).to.deep.equal([
      `audio.use (${use}): it is an adapter of queue; name it in queue.use`,
    ]);
  });

  it("are named where they cannot be opened, or return what is no adapter", async () => {
    const opened = async (open: string): Promise<string> => {
      const use = await file(`export default { port: "queue",${MEMBERS} ${open} };`);
      const env = { FERMATA_QUEUE__USE: use, FERMATA_QUEUE__URL: "pigeon:x", FERMATA_QUEUE__OPTIONS__TOKEN: "t" };
      const error: unknown = await (
        await load(env)
      )
        .get("queue")
        .open(HOST)
        .catch((caught: unknown) => caught);
      return (error as Error).message.replace(use, "FILE");
    };
    expect(await opened('async open() { throw new Error("no pigeon there."); }')).to.equal(
      "queue.use (FILE) could not be opened: no pigeon there",
    );
    const leaking = 'async open() { throw new Error("connect to pigeon://coop:letmein@nest failed"); }';
    expect(await opened(leaking))
      .to.include("pigeon://")
      .and.to.not.include("letmein");
    expect(await opened("open: async () => ({ notify() {} })")).to.include(
      "queue.use (FILE) could not be opened: prepare: missing; every queue has this method; ",
    );
  });
});

describe("The check of an adapter from elsewhere", () => {
  const GIVEN = { ...HOST, dataDir: "/nonexistent", providerIds: [] };
  const loadedWith = (check: () => Promise<never>): LoadedAdapter => {
    const definition: AdapterDefinition = {
      ...{ port: "queue", portVersion: 1, schemes: {}, settings: {}, check },
      open: () => Promise.reject(new Error("not opened")),
    };
    return new LoadedAdapter(definition, { url: "pigeon:", settings: {}, use: "pigeons" });
  };

  it("is a failed result where it throws, or returns no results", async () => {
    const fix = "See its README, or queue.use.";
    const thrown = loadedWith(() => Promise.reject(new Error("no connection to pigeon://coop:letmein@nest.")));
    const [result] = (await thrown.check(GIVEN)) ?? [];
    expect(result).to.include({ name: "queue", result: "failed", fix });
    expect(result?.message).to.match(/^The check of pigeons failed: no connection to .*nest\.$/);
    expect(result?.message).to.not.include("letmein");
    expect(await loadedWith(async () => undefined as never).check(GIVEN)).to.deep.equal([
      { name: "queue", result: "failed", message: "The check of pigeons failed: it returned no list of results.", fix },
    ]);
  });
});

describe("Settings of adapters from elsewhere", () => {
  const issues = (env: Readonly<Record<string, string>>): readonly string[] => {
    try {
      loadSettings({ env, cwd: "/srv/app", isTerminal: false });
    } catch (error) {
      if (error instanceof SettingsError) return error.lines;
      throw error;
    }
    return [];
  };

  it("need a URL of their own: the default is that of a built-in adapter", () => {
    expect(issues({ FERMATA_QUEUE__USE: "./queue.js" })).to.deep.equal([
      "queue.url: missing; set it, or FERMATA_QUEUE__URL; allowed: a URL of the adapter that queue.use names",
    ]);
    expect(issues({ FERMATA_STORAGE__USE: "books", FERMATA_STORAGE__URL: "no url" })).to.deep.equal([
      'storage.url (FERMATA_STORAGE__URL): "no url" is not allowed; ' +
        "allowed: a URL of the adapter that storage.use names",
    ]);
  });

  it("are refused without an adapter that they are for", () => {
    expect(issues({ FERMATA_QUEUE__OPTIONS__STREAM: "secret words" })).to.deep.equal([
      "queue.options.stream (FERMATA_QUEUE__OPTIONS__STREAM): [redacted] is not allowed; " +
        "allowed: only together with queue.use",
    ]);
  });
});
