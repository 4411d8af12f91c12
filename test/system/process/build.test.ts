import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { copyFile, cp, mkdir, mkdtemp, readFile, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { filesUnder } from "../../support/process.js";
import { repositoryPath } from "../../support/repository.js";

/** What a build prints of each step; the seconds differ. */
const ROUTES = "building: types and routes ... N s\n";
const PAGES = "building: client and pages ... N s\n";
const COMPILED = "building: TypeScript ... N s\nbuilding: command ... N s\n";

const GUIDE = "adapters/http/guides/singing.md";

/** A checkout of a few files, with the tools and settings of this one. */
const FILES: Readonly<Record<string, string>> = {
  "core/tempo.ts": "export const tempo: number = 120;\n",
  // Of no route: a change of it is compiled, and that is all.
  "plugins/metre.ts": "export const beats: number = 3;\n",
  "adapters/http/index.ts": 'export { Songs } from "./controllers/songs.js";\n',
  "adapters/http/admin/controllers/tempos.ts": `
import { Controller, Get, Route } from "@tsoa/runtime";
import { tempo } from "../../../../core/tempo.js";

@Route("admin/tempos")
export class Tempos extends Controller {
  /** All tempos. */
  @Get()
  all(): number {
    return tempo;
  }
}
`,
  "config/command.ts": 'import { tempo } from "../core/tempo.js";\nconsole.log(`${tempo} beats`);\n',
  "config/index.ts": "export const app: number = 1;\n",
  "plugins/sdk/index.ts": "export const port: number = 2;\n",
  // In place of the SDK, whose types take the compiler seconds in each build.
  "adapters/mcp/sdk.ts": 'export { h } from "preact";\n',
  "adapters/client/index.ts": "export const wait: number = 1;\n",
  "adapters/web/console/main.tsx": `
import { render } from "preact";
import "./main.css";
render(<b>hello</b>, document.body);
`,
  "adapters/web/console/main.css": "body { margin: 0; }\n",
  "adapters/web/docs/main.tsx": `
import { GUIDES } from "../generated/guides.js";
document.title = GUIDES.map(({ title }) => title).join();
`,
  "adapters/http/guides/README.md": "# Guides\n\n1. [Singing](singing.md)\n",
  [GUIDE]: "# How to sing\n\nAs `GET /songs` has it.\n",
  "adapters/web/studio/main.tsx": `export type { paths } from "../generated/api.js";\n`,
  "adapters/http/controllers/songs.ts": `
import { Controller, Get, Route } from "@tsoa/runtime";
import { tempo } from "../../../core/tempo.js";

@Route("songs")
export class Songs extends Controller {
  /** The first song. */
  @Get()
  first(): number {
    return tempo;
  }
}
`,
};

/** Copied as they are. */
const TOOLS = [
  ...["config/bundle.js", "config/main.ts"],
  ...["adapters/client/build.js", "adapters/client/bundling.js"],
  ...["adapters/mcp/build.js", "adapters/mcp/shims.js"],
  ...["adapters/web/build.js", "adapters/web/build-guides.js", "adapters/web/tsconfig.json"],
];

interface Built {
  readonly code: number;
  readonly stderr: string;
}

describe("A build", function () {
  this.timeout(120_000);
  /** The checkout that is built once, before the tests. */
  let built: string;
  let first: Built;
  let checkout: string;

  const path = (...parts: readonly string[]): string => join(checkout, ...parts);

  async function write(file: string, content: string): Promise<void> {
    await mkdir(dirname(path(file)), { recursive: true });
    await writeFile(path(file), content);
  }

  /** Runs the script that `npm run build` and `npm start` begin with. */
  async function build(): Promise<Built> {
    const child = spawn(process.execPath, [path("config/build.js")], { stdio: ["ignore", "ignore", "pipe"] });
    let stderr = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    const code = await new Promise<number>((resolve, reject) => child.once("error", reject).once("close", resolve));
    return { code, stderr: stderr.replace(/\d+ s$/gm, "N s") };
  }

  async function createCheckout(): Promise<void> {
    for (const [file, content] of Object.entries(FILES)) await write(file, content);
    for (const file of ["package.json", "tsconfig.json", "config/build.js", ...TOOLS])
      await copyFile(repositoryPath(file), path(file));
    for (const file of ["adapters/http/tsoa.json", "adapters/http/admin/tsoa.json"]) {
      const tsoa = JSON.parse(await readFile(repositoryPath(file), "utf8")) as {
        readonly routes: { readonly middlewareTemplate?: string };
      };
      const { middlewareTemplate: _template, ...routes } = tsoa.routes;
      await write(file, JSON.stringify({ ...tsoa, routes }));
    }
    await symlink(repositoryPath("node_modules"), path("node_modules"));
  }

  before(async () => {
    checkout = built = await mkdtemp(join(tmpdir(), "fermata-build-"));
    await createCheckout();
    first = await build();
  });
  // A copy of it with its output: as far as a build goes, it is the same.
  beforeEach(async () => {
    checkout = await mkdtemp(join(tmpdir(), "fermata-build-"));
    await cp(built, checkout, { recursive: true, verbatimSymlinks: true });
  });
  afterEach(() => rm(checkout, { recursive: true, force: true }));
  after(() => rm(built, { recursive: true, force: true }));

  it("is what `npm run build` and `npm start` run", async () => {
    const { scripts } = JSON.parse(await readFile(repositoryPath("package.json"), "utf8")) as {
      readonly scripts: Readonly<Record<string, string>>;
    };
    expect([scripts["build"], scripts["prestart"]]).to.deep.equal(["node config/build.js", "node config/build.js"]);
  });

  it("gives the shell of Windows the `exec` that the scripts begin with", async () => {
    const folder = await mkdtemp(join(tmpdir(), "fermata-build-"));
    try {
      await mkdir(join(folder, "config"));
      await mkdir(join(folder, "node_modules/.bin"), { recursive: true });
      await copyFile(repositoryPath("config/build.js"), join(folder, "config/build.js"));
      const windows = 'data:text/javascript,Object.defineProperty(process, "platform", { value: "win32" })';
      // It has nothing to build, and so fails after that.
      const child = spawn(process.execPath, ["--import", windows, join(folder, "config/build.js")], {
        stdio: "ignore",
      });
      await once(child, "close");
      expect(await readFile(join(folder, "node_modules/.bin/exec.cmd"), "utf8")).to.equal("@%*\r\n");
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it("says what it does, and does and says nothing the second time, also where only times have changed", async () => {
    expect(first).to.deep.equal({ code: 0, stderr: ROUTES + PAGES + COMPILED });
    expect(await readFile(path("dist/core/tempo.js"), "utf8")).to.include("tempo = 120");
    expect(await readFile(path("adapters/http/generated/openapi.json"), "utf8")).to.include("The first song.");
    expect(existsSync(path("dist/adapters/http/generated/web/docs.js"))).to.equal(true);

    await utimes(path("core/tempo.ts"), new Date(), new Date());
    await writeFile(path("dist/core/tempo.js"), "// left alone\n");
    expect(await build()).to.deep.equal({ code: 0, stderr: "" });
    expect(await readFile(path("dist/core/tempo.js"), "utf8")).to.equal("// left alone\n");
  });

  it("compiles a changed source, and keeps files of the bundle before for processes that run, for a day", async () => {
    const [recent, old] = [path("dist/command/chunk-NEW.js"), path("dist/command/chunk-OLD.js")];
    for (const file of [recent, old]) await writeFile(file, "export {};\n");
    const twoDaysAgo = new Date(Date.now() - 2 * 86_400_000);
    await utimes(old, twoDaysAgo, twoDaysAgo);
    await write("plugins/metre.ts", "export const beats: number = 4;\n");
    expect(await build()).to.deep.equal({ code: 0, stderr: COMPILED });
    expect(await readFile(path("dist/plugins/metre.js"), "utf8")).to.include("beats = 4");
    expect([existsSync(recent), existsSync(old)]).to.deep.equal([true, false]);
    // The checkout that this one is a copy of is left alone.
    expect(await readFile(join(built, "dist/plugins/metre.js"), "utf8")).to.include("beats = 3");
  });

  it("generates routes again where what they come from has changed, and bundles all that depends on it", async () => {
    await write("core/tempo.ts", "export const tempo: number = 90;\n");
    const songs = FILES["adapters/http/controllers/songs.ts"] as string;
    await write("adapters/http/controllers/songs.ts", songs.replace("The first song.", "The last song."));
    const page = FILES["adapters/web/console/main.tsx"] as string;
    await write("adapters/web/console/main.tsx", page.replace("hello", "good evening"));
    await write(GUIDE, "# How to hum\n\nAs `GET /songs` has it.\n");
    expect(await build()).to.deep.equal({ code: 0, stderr: ROUTES + PAGES + COMPILED });
    expect(await readFile(path("adapters/http/generated/openapi.json"), "utf8")).to.include("The last song.");
    expect(await readFile(path("dist/adapters/http/generated/web/console.js"), "utf8"))
      .to.include("good evening")
      .and.not.include("hello");
    expect(await readFile(path("dist/adapters/http/generated/web/docs.js"), "utf8"))
      .to.include("How to hum")
      .and.not.include("How to sing");
    const { stdout } = await promisify(execFile)(process.execPath, [path("dist/config/main.js")]);
    expect(stdout).to.equal("90 beats\n");
  });

  it("bundles the pages again where they have changed, with types from the descriptions of the APIs", async () => {
    const bundled = (file: string): Promise<string> => readFile(path("dist/adapters/http/generated/web", file), "utf8");
    expect(await bundled("console.js")).to.include("hello");
    expect(await bundled("console.css")).to.include("margin:0");
    expect(await bundled("licences.txt")).to.match(/^preact [\d.]+ \(MIT\)\n\n[^]*Permission is hereby granted/);
    expect(await readFile(path("adapters/web/generated/api.ts"), "utf8")).to.include("The first song.");

    const page = FILES["adapters/web/console/main.tsx"] as string;
    await write("adapters/web/console/main.tsx", page.replace("document.body", "42"));
    const { code, stderr } = await build();
    expect(code).to.equal(1);
    expect(stderr).to.include("adapters/web/console/main.tsx(4,22): error TS2345");
  });

  it("looks at the guides again where they have changed, and fails where one leads nowhere", async () => {
    expect(await readFile(path("dist/adapters/http/generated/web/docs.js"), "utf8")).to.include("How to sing");
    await write(GUIDE, "# How to hum\n\nAs `GET /nowhere` has it.\n");
    const { code, stderr } = await build();
    expect([code, stderr.includes("singing.md: there is no operation GET /nowhere")]).to.deep.equal([1, true]);
  });

  it("leaves no output of a source that is gone", async () => {
    const outputs = (name: string): string[] => [`${name}.d.ts`, `${name}.js`, `${name}.js.map`];
    const sdk = outputs("sdk/index");
    expect(await filesUnder(path("dist/plugins"))).to.have.members([...outputs("metre"), ...sdk]);
    await rm(path("plugins/metre.ts"));
    expect(await build()).to.deep.equal({ code: 0, stderr: COMPILED });
    expect(await filesUnder(path("dist/plugins"))).to.deep.equal(sdk);
    expect(await filesUnder(path("dist/core"))).to.deep.equal(outputs("tempo"));
    expect(existsSync(path("dist/adapters/http/generated/web/docs.js"))).to.equal(true);
  });

  it("writes again what was deleted of the output", async () => {
    for (const file of ["dist/core/tempo.js", "dist/command/command.js"]) {
      await rm(path(file));
      expect(await build(), file).to.deep.equal({ code: 0, stderr: COMPILED });
      expect(existsSync(path(file)), file).to.equal(true);
    }
  });

  it("bundles the command, which runs without the modules that it was compiled to", async () => {
    await rm(path("dist/core"), { recursive: true });
    const { stdout } = await promisify(execFile)(process.execPath, [path("dist/config/main.js")]);
    expect(stdout).to.equal("120 beats\n");
  });

  it("fails with the compiler's words, until the source is corrected", async () => {
    await write("plugins/metre.ts", 'export const beats: number = "three";\n');
    for (let time = 0; time < 2; time++) {
      const { code, stderr } = await build();
      expect(code).to.equal(1);
      expect(stderr).to.include("plugins/metre.ts(1,14): error TS2322");
    }
    await write("plugins/metre.ts", FILES["plugins/metre.ts"] as string);
    expect(await build()).to.deep.equal({ code: 0, stderr: COMPILED });
  });

  it("builds again after a change of package-lock.json, and names packages that are not installed", async () => {
    const packages = { "": {}, "node_modules/night-owl": { version: "1.0.0" }, "node_modules/x": { optional: true } };
    await write("package-lock.json", JSON.stringify({ packages }));
    expect(await build()).to.deep.equal({
      code: 0,
      stderr: "node_modules is not what package-lock.json names (night-owl): run npm ci\n" + ROUTES + PAGES + COMPILED,
    });
    await rm(path("node_modules"));
    await write("package-lock.json", JSON.stringify({ packages: { "": {} } }));
    expect(await build()).to.deep.equal({
      code: 1,
      stderr: `building: types and routes ...\n@tsoa/cli is not installed: run npm ci\n`,
    });
  });
});
