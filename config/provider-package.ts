import { mkdir, readdir, writeFile } from "node:fs/promises";
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { OperationRefusedError } from "../core/errors.js";
import { provideFermata } from "./plugin-imports.js";
import { moduleIn } from "./plugin-sandbox.js";
import { syntaxErrorPlace } from "./syntax-error-place.js";

/** Where plugins are looked for. */
export interface PluginPlaces {
  /** What relative paths are relative to; packages are looked for there in the second place. */
  readonly cwd: string;
  /** The folder that packages are installed into for Fermata; they are looked for there first. */
  readonly pluginsDir: string | null;
}

/** Modules are read and run within moments; one that takes longer waits for something that may never come. */
const LOAD_LIMIT_MS = 30_000;

/**
 * What a package or a file exports by default. Of a folder its `package.json` or its `index.js` counts. Its files
 * import this Fermata as `fermata-music`, whatever is installed next to them.
 *
 * @throws {OperationRefusedError} when it cannot be loaded, or not within the limit; of a syntax error it names file
 *   and line
 */
export async function importPackage(
  use: string,
  places: PluginPlaces,
  limitMs: number = LOAD_LIMIT_MS,
): Promise<unknown> {
  try {
    const { entry, folder } = locate(use, places);
    provideFermata(folder);
    const { href } = pathToFileURL(entry);
    const module = (await within(limitMs, import(href)).catch(async (error: unknown) => {
      throw await withPlace(error, moduleIn(folder, pathToFileURL(entry)).href);
    })) as { readonly default?: unknown };
    return module.default;
  } catch (cause) {
    throw new OperationRefusedError(
      `${use} cannot be loaded: ${cause instanceof Error ? cause.message : String(cause)}`,
    );
  }
}

/** A module whose top-level `await` never settles holds no process: the timer does, so that the limit is reported. */
async function within(limitMs: number, loading: Promise<unknown>): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    const message =
      `it did not finish loading within ${limitMs / 1000} s: a top-level \`await\` of it, or of a module that it ` +
      "imports, has not settled; allowed: modules that wait for nothing while they load";
    timer = setTimeout(() => reject(new Error(message)), limitMs);
  });
  try {
    return await Promise.race([loading, late]);
  } finally {
    clearTimeout(timer);
  }
}

async function withPlace(error: unknown, url: string): Promise<unknown> {
  if (!(error instanceof SyntaxError)) return error;
  const place = await syntaxErrorPlace(error, url);
  return place === null ? error : new Error(`syntax error in ${place}: ${error.message}`, { cause: error });
}

/** The file to import, and the folder whose files are the plugin's; neither has symbolic links in its path. */
interface Located {
  readonly entry: string;
  readonly folder: string;
}

function locate(use: string, { cwd, pluginsDir }: PluginPlaces): Located {
  if (!use.startsWith(".") && !use.startsWith("/")) return locatePackage(use, pluginsDir, cwd);
  const path = realpathSync(resolve(cwd, use));
  if (existsSync(join(path, "package.json"))) return { entry: entryOf(path), folder: path };
  const index = join(path, "index.js");
  return existsSync(index) ? { entry: index, folder: path } : { entry: path, folder: packageOf(path) };
}

function locatePackage(use: string, pluginsDir: string | null, cwd: string): Located {
  const name = use.split("/", use.startsWith("@") ? 2 : 1).join("/");
  for (const place of pluginsDir === null ? [cwd] : [pluginsDir, cwd]) {
    const { resolve: find } = createRequire(join(place, "package.json"));
    const found = find.paths(name)?.find((modules) => existsSync(join(modules, name, "package.json")));
    if (found === undefined) continue;
    const folder = realpathSync(join(found, name));
    const entry = use === name ? entryOf(folder) : find(use);
    // What is installed into that folder is there for plugins, packages that they share included.
    return { entry, folder: place === pluginsDir ? realpathSync(place) : folder };
  }
  const hint =
    pluginsDir === null
      ? `there is no such package in ${cwd}; pluginsDir names another folder to look in`
      : `there is no such package in ${pluginsDir} or ${cwd}; npm install --prefix ${pluginsDir} ${name} installs it`;
  throw new Error(hint);
}

/** The file that an import of the package in `folder` loads. */
function entryOf(folder: string): string {
  const { exports } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { readonly exports?: unknown };
  if (exports === undefined) return createRequire(join(folder, "package.json")).resolve(folder);
  const target = importTarget(exports);
  if (target === null) throw new Error("its package.json exports nothing that can be imported");
  return join(folder, target);
}

const IMPORT_CONDITIONS = ["node", "import", "module-sync", "default"];

/** What `exports` of a package.json name for its main entry. */
function importTarget(exports: unknown): string | null {
  if (typeof exports === "string") return exports;
  if (typeof exports !== "object" || exports === null) return null;
  if ("." in exports) return importTarget(exports["."]);
  const targets = Object.entries(exports).filter(([condition]) => IMPORT_CONDITIONS.includes(condition));
  return targets.map(([, target]) => importTarget(target)).find((target) => target !== null) ?? null;
}

/** The nearest folder above a file that has a package.json; without one, the folder of the file. */
function packageOf(file: string): string {
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder))
    if (existsSync(join(folder, "package.json"))) return folder;
  return dirname(file);
}

/**
 * Writes files into an empty folder, or into a new one.
 *
 * @returns the folder's whole path
 * @throws {OperationRefusedError} when something is in it already; nothing was written
 */
export async function writePackage(
  directory: string,
  files: ReadonlyMap<string, string>,
  cwd: string,
): Promise<string> {
  const folder = resolve(cwd, directory);
  await mkdir(folder, { recursive: true });
  if ((await readdir(folder)).length > 0)
    throw new OperationRefusedError(`${folder} is not empty; name another folder with --dir.`);
  for (const [path, text] of files) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text, { flag: "wx" });
  }
  return folder;
}
