import { execFile } from "node:child_process";
import { rmSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { compileFiles, sourcesIn } from "./compiler.js";
import { repositoryPath } from "./repository.js";

const run = promisify(execFile);

export interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
}

export interface Ended {
  readonly code: number;
  readonly output: string;
}

/** As in a `tsconfig.json`. */
const SETTINGS = {
  target: "ES2023",
  lib: ["ES2023"],
  module: "NodeNext",
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  verbatimModuleSyntax: true,
  types: ["node"],
};

/** Of all installations in this process. */
let unpacked: Promise<string> | undefined;

/** Packs the package, and unpacks it into a folder that is deleted when the process ends. */
async function unpack(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "fermata-packed-")));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const options = { cwd: repositoryPath(), env: { ...process.env, npm_config_cache: join(folder, "cache") } };
  const { stdout } = await run("npm", ["pack", "--ignore-scripts", "--json", "--pack-destination", folder], options);
  const [{ filename }] = JSON.parse(stdout) as [{ readonly filename: string }];
  await run("tar", ["-xzf", join(folder, filename), "-C", folder]);
  return join(folder, "package");
}

/** The package as `npm pack` makes it of the build, in the folder of an app, with the dependencies that it names. */
export class InstalledPackage {
  private constructor(
    /** The app's. */
    readonly folder: string,
    /** Where the package is in it. */
    readonly path: string,
    readonly manifest: Manifest,
  ) {}

  static async open(): Promise<InstalledPackage> {
    const folder = await realpath(await mkdtemp(join(tmpdir(), "fermata-package-")));
    const path = join(folder, "node_modules", "fermata-music");
    await mkdir(dirname(path), { recursive: true });
    // The same files under other names: they are not changed.
    await run("cp", ["--archive", "--link", await (unpacked ??= unpack()), path]);
    const manifest = JSON.parse(await readFile(join(path, "package.json"), "utf8")) as Manifest;
    const opened = new InstalledPackage(folder, path, manifest);
    const { dependencies, optionalDependencies } = manifest;
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) await opened.install(name);
    return opened;
  }

  /** Links a package of this repository; its own dependencies are found from where it really is. */
  async install(name: string): Promise<void> {
    const link = join(this.folder, "node_modules", name);
    await mkdir(dirname(link), { recursive: true });
    await symlink(repositoryPath("node_modules", name), link);
  }

  /** Makes the folder an app in TypeScript. */
  async addApp(): Promise<void> {
    await writeFile(join(this.folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
    await this.install("@types/node");
  }

  /**
   * Writes a file of the app and compiles it.
   *
   * @param whole whether all types of the package are checked, those that the file does not use included
   */
  async compile(name: string, code: string, whole = false): Promise<void> {
    await writeFile(join(this.folder, `${name}.ts`), code);
    this.build([`${name}.ts`], whole);
  }

  /** Copies a folder of sources, without folders in it, into the app and compiles them where they are. */
  async compileFolder(source: string): Promise<void> {
    const name = basename(source);
    await cp(source, join(this.folder, name), { recursive: true });
    this.build(sourcesIn(this.folder, name));
  }

  /** Compiles a file of the app, and runs the result with these arguments. */
  async compiledAndRun(
    name: string,
    code: string,
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ): Promise<Ended> {
    await this.compile(name, code);
    return ended([...args, `${name}.js`], this.folder, env);
  }

  private build(names: readonly string[], whole = false): void {
    expect(compileFiles(this.folder, names, { ...SETTINGS, skipLibCheck: !whole })).to.deep.equal([]);
  }

  remove(): Promise<void> {
    return rm(this.folder, { recursive: true, force: true });
  }
}

/** Runs Node with these arguments to its end. */
export function ended(
  args: readonly string[],
  cwd: string,
  given: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  // Inside of a test run of Node itself, `node --test` reports to that run alone.
  const env = { ...process.env, NODE_OPTIONS: "", NODE_TEST_CONTEXT: undefined, FORCE_COLOR: "0", ...given };
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd, env, maxBuffer: 16 * 1024 * 1024 }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === "number" ? error.code : 0, output: stdout + stderr });
    });
  });
}
