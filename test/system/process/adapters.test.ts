import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect } from "chai";
import { type Ended, ended } from "../../support/installed-package.js";
import { repositoryPath } from "../../support/repository.js";

const MAIN = repositoryPath("dist", "config", "main.js");
const BUILT_IN = pathToFileURL(repositoryPath("dist", "config", "adapters", "built-in.js")).href;

/** Fermata's own storage and files as adapters from elsewhere, at URLs of their own. */
const BOOKS = `
import { defineAdapter } from "fermata-music";
import { BUILT_IN_ADAPTERS } from ${JSON.stringify(BUILT_IN)};
const [sql] = BUILT_IN_ADAPTERS;
export default defineAdapter({
  port: "storage",
  schemes: { books: { form: "books:PATH", rest: "path" } },
  settings: { name: { type: "string", required: true, description: "Name of the file" } },
  open: ({ url, settings: { name }, ...host }) =>
    sql.open({ ...host, url: "sqlite:" + url.slice("books:".length) + "/" + name, settings: {} }),
});
`;

const TAPES = `
import { defineAdapter } from "fermata-music";
import { BUILT_IN_ADAPTERS } from ${JSON.stringify(BUILT_IN)};
const local = BUILT_IN_ADAPTERS.find(({ schemes }) => "file" in schemes);
export default defineAdapter({
  port: "audio",
  schemes: { tapes: { form: "tapes:PATH", rest: "path" } },
  settings: {},
  open: ({ url, ...host }) => local.open({ ...host, url: "file:" + url.slice("tapes:".length) }),
  check: async ({ url }) => [{ name: "tapes", result: "ok", message: "At " + url + ".", fix: null }],
});
`;

/** Files that stay where they are deleted. */
const STICKY = TAPES.replace(
  'local.open({ ...host, url: "file:" + url.slice("tapes:".length) })',
  `local.open({ ...host, url: "file:" + url.slice("tapes:".length) }).then((store) => ({
    ...{ put: store.put.bind(store), stat: store.stat.bind(store), read: store.read.bind(store) },
    ...{ list: store.list.bind(store), deleteAll: store.deleteAll.bind(store), async delete() {} },
  }))`,
);

describe("Adapters from elsewhere, in a process", function () {
  this.timeout(120_000);
  let folder: string;
  let env: Readonly<Record<string, string>>;
  before(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), "fermata-own-adapters-")));
    for (const [name, text] of Object.entries({ books: BOOKS, tapes: TAPES, sticky: STICKY }))
      await writeFile(join(folder, `${name}.mjs`), text);
    env = {
      FERMATA_STORAGE__USE: "./books.mjs",
      FERMATA_STORAGE__URL: "books:library",
      FERMATA_STORAGE__OPTIONS__NAME: "music.sqlite",
      FERMATA_AUDIO__USE: "./tapes.mjs",
      FERMATA_AUDIO__URL: "tapes:tapes",
      FERMATA_LOGS__LEVEL: "error",
      FERMATA_METRICS__ENABLED: "false",
    };
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const fermata = (args: readonly string[], given = env): Promise<Ended> => ended([MAIN, ...args], folder, given);

  async function json<T>(args: readonly string[]): Promise<T> {
    const { code, output } = await fermata([...args, "--json"]);
    expect(code, output).to.equal(0);
    return JSON.parse(output) as T;
  }

  it("hold a whole installation: migrated, looked at by doctor, and used by commands", async () => {
    const before = await fermata(["accounts", "list"]);
    expect([before.code, /Run `.+ migrate` first\./.test(before.output)]).to.deep.equal([1, true]);
    expect(await json<{ applied: readonly string[] }>(["migrate"]))
      .to.have.property("applied")
      .that.includes("0001-accounts");
    const account = await json<{ id: string }>(["accounts", "create", "alice", "--tier", "pro"]);
    await json(["credits", "grant", account.id, "5"]);
    expect(await json(["credits", "show", account.id])).to.include({ available: 5 });
    const { output } = await fermata(["doctor"]);
    expect(output).to.match(/storage +It responds \(\.\/books\.mjs\)\./);
    expect(output).to.include(`At tapes:${folder}/tapes.`);
    expect(output).to.include("clock").and.to.include("submissions");
  });

  it("are named by doctor where a setting of theirs is missing", async () => {
    const { FERMATA_STORAGE__OPTIONS__NAME: _name, ...without } = env;
    const { code, output } = await fermata(["doctor"], without);
    expect(code).to.equal(1);
    expect(output).to.include(
      "storage.options.name: missing; set it, or FERMATA_STORAGE__OPTIONS__NAME; allowed: a text that is not empty",
    );
  });

  describe("and fermata adapters check", () => {
    interface Checked {
      readonly ok: boolean;
      readonly port: string | null;
      readonly issues: readonly string[];
      readonly contract: { readonly passed: number; readonly failures: readonly { readonly title: string }[] } | null;
    }

    async function checked(...args: readonly string[]): Promise<Checked & { readonly code: number }> {
      const { code, output } = await fermata(["adapters", "check", ...args, "--json"], {});
      return { code, ...(JSON.parse(output) as Checked) };
    }

    it("looks at a definition without opening it", async () => {
      const { code, output } = await fermata(["adapters", "check", "./books.mjs"], {});
      expect({ code, output }).to.deep.equal({
        code: 0,
        output:
          "./books.mjs: storage; books:PATH; settings name\nNothing is wrong with its definition.\n" +
          "Its contract suite was not run: give it an empty place for tests with --url.\n",
      });
      await writeFile(join(folder, "empty.mjs"), "export default 7;");
      expect(await checked("./empty.mjs")).to.deep.include({
        code: 1,
        ok: false,
        issues: ["its default export is no adapter; allowed: what `defineAdapter` returns"],
      });
    });

    it("proves a storage from elsewhere by every suite of its port", async () => {
      const args = ["./books.mjs", "--url", "books:proved", "--option", "name=a.sqlite"];
      const { code, ok, contract } = await checked(...args);
      expect(contract?.failures).to.deep.equal([]);
      expect(contract?.passed).to.be.above(250);
      expect([code, ok]).to.deep.equal([0, true]);
    });

    it("proves the built-in ones by the same suites", async () => {
      for (const [url, port] of [
        ["memory:", "queue"],
        ["file:files", "audio"],
      ] as const) {
        const found = await checked("--url", url);
        expect(found).to.deep.include({ code: 0, ok: true, port });
        expect(found.contract?.passed, url).to.be.above(8);
      }
    });

    it("finds a store that deletes nothing, by the titles of what it fails", async () => {
      const { code, ok, contract } = await checked("./sticky.mjs", "--url", "tapes:sticky");
      expect([code, ok]).to.deep.equal([1, false]);
      expect(contract?.failures.map(({ title }) => title)).to.include.members([
        "AudioStore contract: ./sticky.mjs deletes one file, and nothing with it",
        "AudioStore contract: ./sticky.mjs lists no deleted file",
      ]);
    });

    it("refuses what it cannot run: a URL of another adapter, a setting that is not there", async () => {
      const { code, issues, contract } = await checked("./books.mjs", "--url", "sqlite:x", "--option", "wall=1");
      expect({ code, contract }).to.deep.equal({ code: 1, contract: null });
      expect(issues).to.deep.equal([
        '--url: "sqlite:x" is not allowed; allowed: books:PATH',
        "options.wall (--option): unknown setting; did you mean options.name?",
        "options.name: missing; allowed: a text that is not empty",
      ]);
    });

    it("refuses an option that is given twice, or without a value", async () => {
      for (const [options, problem] of [
        [["--option", "name=a", "--option", "name=b"], "name is given twice."],
        [["--option", "name"], "Allowed: name=value, such as seed=42."],
      ] as const) {
        const { code, output } = await fermata(["adapters", "check", "--url", "memory:", ...options], {});
        expect(code).to.equal(2);
        expect(output).to.include(problem);
      }
    });
  });
});
