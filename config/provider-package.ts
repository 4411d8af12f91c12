import { mkdir, readdir, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { OperationRefusedError } from "../core/errors.js";
import { syntaxErrorPlace } from "./syntax-error-place.js";

/**
 * What a package or a file exports by default. Both are found from `cwd`; of a folder its `package.json` or its
 * `index.js` counts.
 *
 * @throws {OperationRefusedError} when it cannot be loaded; of a syntax error it names file and line
 */
export async function importPlugin(use: string, cwd: string): Promise<unknown> {
  try {
    const { href } = pathToFileURL(locate(use, cwd));
    const module = (await import(href).catch(async (error: unknown) => {
      throw await withPlace(error, href);
    })) as { readonly default?: unknown };
    return module.default;
  } catch (cause) {
    throw new OperationRefusedError(
      `${use} cannot be loaded: ${cause instanceof Error ? cause.message : String(cause)}`,
    );
  }
}

async function withPlace(error: unknown, url: string): Promise<unknown> {
  if (!(error instanceof SyntaxError)) return error;
  const place = await syntaxErrorPlace(error, url);
  return place === null ? error : new Error(`syntax error in ${place}: ${error.message}`, { cause: error });
}

function locate(use: string, cwd: string): string {
  const isPath = use.startsWith(".") || use.startsWith("/");
  const path = resolve(cwd, use);
  if (!isPath) return createRequire(join(cwd, "package.json")).resolve(use);
  const own = createRequire(join(path, "package.json"));
  if (existsSync(join(path, "package.json"))) {
    const { exports: entry, main } = own("./package.json") as { readonly exports?: unknown; readonly main?: string };
    return join(path, typeof entry === "string" ? entry : (main ?? "index.js"));
  }
  return existsSync(join(path, "index.js")) ? join(path, "index.js") : path;
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
