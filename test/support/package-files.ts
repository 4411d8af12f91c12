import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { repositoryPath } from "./repository.js";

/** The paths that `npm pack` would put into the package, of what is built. */
export async function packedFiles(): Promise<string[]> {
  const args = ["pack", "--dry-run", "--ignore-scripts", "--json"];
  const { stdout } = await promisify(execFile)("npm", args, { cwd: repositoryPath(), maxBuffer: 16 * 1024 * 1024 });
  const [{ files }] = JSON.parse(stdout) as [{ readonly files: readonly { readonly path: string }[] }];
  return files.map(({ path }) => path);
}

/** Imports and exports of compiled modules and of declarations, those of types included. */
const SPECIFIER = /(?:\bfrom|\bimport)\s*\(?\s*"(\.[^"]+)"/g;
/** A module that is loaded by its URL, in a process of its own. */
const MODULE_URL = /\bmoduleUrl\("([^"]+)"\)/g;

/** Compiled modules and declarations that these load, they themselves included, by their path in the repository. */
export function loadedFrom(entries: readonly string[]): Set<string> {
  const loaded = new Set<string>();
  const pending = [...entries];
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    if (loaded.has(path) || !existsSync(repositoryPath(path))) continue;
    loaded.add(path);
    const text = readFileSync(repositoryPath(path), "utf8");
    const isTypes = path.endsWith(".d.ts");
    for (const [, name = ""] of text.matchAll(SPECIFIER)) {
      const file = join(dirname(path), name);
      pending.push(isTypes ? file.replace(/\.js$/, ".d.ts") : file);
    }
    for (const [, name = ""] of text.matchAll(MODULE_URL)) pending.push(`dist/test/support/sandbox/${name}.js`);
  }
  return loaded;
}
