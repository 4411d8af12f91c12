import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect } from "chai";
import { DEVELOPMENT_TOOLS } from "../../../adapters/cli/scaffold.js";
import { FermataCall } from "../../support/process.js";
import { repositoryPath } from "../../support/repository.js";

interface Ended {
  readonly code: number;
  readonly output: string;
}

/** What an author writes in the one place that is left to be written. */
const WRITTEN = `export function toTracks(task: Task): readonly ProviderTrack[] {
  return (task.files ?? []).map(({ url, title, seconds }) => ({
    title: title ?? null,
    bpm: null,
    tags: { mood: [], activity: [], genre: [], other: [] },
    assets: [
      {
        role: "mix",
        label: "full",
        contentType: null,
        durationSeconds: seconds ?? null,
        source: { kind: "url", url },
      },
    ],
  }));
}
`;

describe("fermata plugins", () => {
  let folder: string;
  before(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), "fermata-plugins-")));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  async function fermata(
    args: readonly string[],
    cwd = folder,
  ): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
    const call = new FermataCall(args, {}, cwd);
    const code = await call.ended;
    return { code, stdout: call.stdout, stderr: call.stderr };
  }

  describe("new", function () {
    this.timeout(300_000);
    let directory: string;
    /** What `package.json` depends on in addition to the tools. */
    let asked: string;
    before(async () => {
      const { stdout } = await fermata(["plugins", "new", "night-owl", "--json"]);
      directory = (JSON.parse(stdout) as { readonly directory: string }).directory;
      const { devDependencies } = JSON.parse(await readFile(join(directory, "package.json"), "utf8")) as {
        readonly devDependencies: Record<string, string>;
      };
      asked = devDependencies["fermata-music"] ?? "";
      // As `npm install` would leave it: the Fermata that is asked for, and the tools.
      for (const [name, target] of [
        ["fermata-music", asked.slice("file:".length)],
        ...Object.keys(DEVELOPMENT_TOOLS).map((tool) => [tool, repositoryPath(`node_modules/${tool}`)]),
      ] as const) {
        const link = join(directory, "node_modules", name);
        await mkdir(dirname(link), { recursive: true });
        await symlink(target, link);
      }
    });

    /** Builds and tests the package as its own `npm test` does. */
    async function tested(): Promise<Ended> {
      const require = createRequire(import.meta.url);
      const built = await ended(process.execPath, [require.resolve("typescript/bin/tsc")], directory);
      expect(built).to.deep.equal({ code: 0, output: "" });
      return ended(
        process.execPath,
        [require.resolve("mocha/bin/mocha.js"), "--no-config", "--timeout", "20000", "dist/test/*.test.js"],
        directory,
      );
    }

    it("writes a package that builds, whose suite is one line until that is written, and then runs whole", async () => {
      const red = await tested();
      expect(red.code).to.be.greaterThan(0);
      const [, report = ""] = red.output.split("1 failing");
      const lines = report.split("\n").map((line) => line.trim());
      expect(lines.filter((line) => line !== "")).to.deep.equal([
        "1) MusicProvider contract: night-owl",
        "has toTracks in src/map.ts:",
        "toTracks in src/map.ts is not written yet: it returns one track for each file of their task, with an asset " +
          'of role "mix" whose source is the URL of the file. npm test then runs the whole suite; README.md has the ' +
          "steps after it.",
      ]);
      expect(red.output).to.include("0 passing");

      const map = await readFile(join(directory, "src/map.ts"), "utf8");
      await writeFile(join(directory, "src/map.ts"), map.slice(0, map.indexOf("export function toTracks")) + WRITTEN);
      const green = await tested();
      expect(green.output)
        .to.match(/\d\d passing/)
        .and.not.include("failing");
      expect(green.code).to.equal(0);
    });

    it("asks for the Fermata that wrote it, by its folder: by its name it would be another package", async () => {
      expect(asked).to.match(/^file:\//);
      expect(await realpath(asked.slice("file:".length))).to.equal(await realpath(repositoryPath(".")));
    });

    it("writes a package that `plugins check` finds nothing wrong with", async () => {
      const { code, stdout } = await fermata(["plugins", "check", "."], directory);
      expect([code, stdout]).to.deep.equal([
        0,
        "night-owl: port version 2, this Fermata's 2; 1 model\nNothing is wrong.\n",
      ]);
    });

    it("asks for the tools that Fermata itself is tested with", async () => {
      const { devDependencies } = JSON.parse(await readFile(repositoryPath("package.json"), "utf8")) as {
        readonly devDependencies: Record<string, string>;
      };
      expect(
        Object.entries(DEVELOPMENT_TOOLS).filter(([name, range]) => range !== `^${devDependencies[name]}`),
      ).to.deep.equal([]);
    });

    it("leaves a folder alone that has something in it", async () => {
      const { code, stdout, stderr } = await fermata(["plugins", "new", "other", "--dir", directory]);
      expect([code, stdout, stderr]).to.deep.equal([
        1,
        "",
        `${directory} is not empty; name another folder with --dir.\n`,
      ]);
    });

    it("refuses the id of a built-in plugin, and names all that are taken", async () => {
      const { code, stdout, stderr } = await fermata(["plugins", "new", "sonauto"]);
      expect([code, stdout]).to.deep.equal([2, ""]);
      expect(stderr)
        .to.match(/^error: the id sonauto is that of a built-in plugin; choose one other than ace-step, /)
        .and.include(", synth\n");
      expect(await readdir(folder)).to.not.include("fermata-sonauto");
    });

    it("refuses a name that is no id, as bad usage", async () => {
      const { code, stderr } = await fermata(["plugins", "new", "Night Owl"]);
      expect(code).to.equal(2);
      expect(stderr).to.include("Allowed: up to 30 lower-case letters, digits and -");
    });
  });

  describe("check", () => {
    async function aPlugin(name: string, source: string): Promise<string> {
      await writeFile(join(folder, `${name}.mjs`), source);
      return `./${name}.mjs`;
    }

    it("names every issue at once, with both port versions, and fails", async () => {
      const use = await aPlugin(
        "old",
        `export default { id: "Old", label: "Old", portVersion: 1, concurrency: 0,
          settings: { apiKey: { type: "string", description: "Key" } },
          models: [
            { id: "old/a", name: "A", creditCost: 1.5, supportsLyrics: true, supportsInstrumental: true,
              duration: null },
          ],
          capabilities: { idempotentSubmit: true, lookup: "yes", cancel: false }, create: () => ({}) };`,
      );
      const { code, stdout } = await fermata(["plugins", "check", use]);
      expect(code).to.equal(1);
      expect(stdout.split("\n")).to.deep.equal([
        "Old: port version 1, this Fermata's 2; 1 model",
        "  issue  it speaks port version 1; this Fermata speaks 2",
        '  issue  id: "Old"; allowed: up to 30 lower-case letters, digits and -',
        "  issue  concurrency: 0; allowed: a whole number from 1, or a function of the settings",
        "  issue  settings.apiKey: it is named like a secret; allowed: secret: true, or another name",
        "  issue  models[0].creditCost: 1.5; allowed: a whole number of credits",
        '  issue  models[0].id: "old/a"; allowed: Old/<name>',
        '  issue  capabilities.lookup: "yes"; allowed: true, false',
        "  note   not started: its definition is not right yet",
        "7 issues.",
        "",
      ]);
    });

    it("compares the methods with the capabilities, in one JSON document", async () => {
      const use = await aPlugin(
        "half",
        `export default { id: "half", label: "Half", portVersion: 2, concurrency: 1, settings: {}, models: [],
          capabilities: { idempotentSubmit: true, lookup: true, cancel: false },
          create: () => ({ submit() {}, cancel() {} }) };`,
      );
      const { code, stdout } = await fermata(["plugins", "check", use, "--json"]);
      expect(code).to.equal(1);
      const { mistakes, ...checked } = JSON.parse(stdout) as { readonly mistakes: unknown; readonly issues: unknown };
      // The older name, for one minor version.
      expect(mistakes).to.deep.equal(checked.issues);
      expect(checked).to.deep.equal({
        id: "half",
        ok: false,
        port_version: 2,
        fermata_port_version: 2,
        models: [],
        issues: [
          "capabilities.lookup is true, and there is no method `lookup`",
          "there is a method `cancel`, and capabilities.cancel is false: the host would never call it",
        ],
        notes: [],
      });
    });

    it("says what it could not look at, where a plugin wants real settings", async () => {
      const use = await aPlugin(
        "picky",
        `export default { id: "picky", label: "Picky", portVersion: 2, concurrency: 1, models: [],
          settings: { region: { type: "string", required: true, description: "Where" } },
          capabilities: { idempotentSubmit: true, lookup: false, cancel: false },
          create: ({ settings }) => { throw new Error("no region " + settings.region); } };`,
      );
      const { code, stdout } = await fermata(["plugins", "check", use]);
      expect([code, stdout.split("\n")[1]]).to.deep.equal([
        0,
        "  note   methods not compared with capabilities: it does not start with example settings (no region " +
          "example-value)",
      ]);
    });

    it("names file and line of a syntax error, also in a file that the plugin imports", async () => {
      const broken = await aPlugin("broken", 'export const id = "x";\nexport default {\n  id "x",\n};\n');
      const importing = await aPlugin("importing", 'import "./broken.mjs";\nexport default {};\n');
      const missing = await aPlugin(
        "missing",
        '\nimport { nothing } from "./importing.mjs";\nexport default nothing;\n',
      );
      await writeFile(join(folder, "importing-none.mjs"), "export const other = 1;\n");
      const unnamed = await aPlugin("unnamed", '\nimport { nothing } from "./importing-none.mjs";\n');
      const at = `syntax error in ${join(folder, "broken.mjs")}:3: Unexpected string\n`;
      for (const use of [broken, importing, missing])
        expect(await fermata(["plugins", "check", use])).to.deep.equal({
          code: 1,
          stdout: "",
          stderr: `${use} cannot be loaded: ${at}`,
        });
      const { stderr } = await fermata(["plugins", "check", unnamed]);
      expect(stderr).to.include(`syntax error in ${join(folder, "unnamed.mjs")}:2: `);
    });

    it("names file and line of a syntax error at the start as well", async () => {
      // A name of its own: Node keeps what it found out about a module by its URL.
      await aPlugin("commas", "export default {\n  id,,\n};\n");
      const use = join(folder, "commas.mjs");
      const call = new FermataCall(
        ["plugins", "list"],
        { FERMATA_PLUGINS__COMMAS__ENABLED: "true", FERMATA_PLUGINS__COMMAS__USE: use },
        folder,
      );
      expect(await call.ended).to.not.equal(0);
      expect(call.stderr).to.include(`syntax error in ${join(folder, "commas.mjs")}:2: Unexpected token ','`);
    });

    it("refuses what cannot be loaded, and what exports no definition", async () => {
      const missing = await fermata(["plugins", "check", "./nowhere.mjs"]);
      expect([
        missing.code,
        missing.stdout,
        missing.stderr.startsWith("./nowhere.mjs cannot be loaded: "),
      ]).to.deep.equal([1, "", true]);
      const { code, stdout } = await fermata(["plugins", "check", await aPlugin("empty", "export const nothing = 1;")]);
      expect(code).to.equal(1);
      expect(stdout).to.include(
        "issue  its default export is no provider definition; allowed: what `defineProvider` returns\n",
      );
    });
  });
});

/** Runs a program to its end. */
function ended(file: string, args: readonly string[], cwd: string): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(
      file,
      args,
      { cwd, maxBuffer: 16 * 1024 * 1024, timeout: 120_000, env: { ...process.env, NODE_OPTIONS: "" } },
      (error, stdout, stderr) => {
        resolve({ code: typeof error?.code === "number" ? error.code : 0, output: stdout + stderr });
      },
    );
  });
}
