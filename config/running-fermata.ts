/** A resolve hook for Node; a thread of its own loads this file too where Node has no `registerHooks`. */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";

const NAME = "fermata-music";

/** Finds this package by its own name, through its `exports`. */
const own = createRequire(import.meta.url);

/** Where the files of this package are. They import it as it is, also where a folder of plugins has them in it. */
const home = new URL("../", import.meta.url).href;

/** URLs with a slash at their end. */
const folders: string[] = [];

/** Whether the command runs as it is bundled: config/bundle.js. */
let isBundled = false;

/** Files that import this package as `fermata-music`. */
export interface Importing {
  /** A URL with a slash at its end. */
  readonly folder: string;
  /** Whether they get the modules of the bundled command, as it is those that run. */
  readonly isBundled: boolean;
}

export function initialize(importing: Importing): void {
  folders.push(importing.folder);
  ({ isBundled } = importing);
}

/** A module that was found; no other hook is asked. */
export interface Found {
  readonly url: string;
  readonly path: string;
  readonly shortCircuit: true;
}

/** Finds what a file imports. */
export function resolve<T, C extends { readonly parentURL?: string | undefined }>(
  specifier: string,
  context: C,
  next: (specifier: string, context: C) => T,
): T | Found {
  const isOurs = specifier === NAME || specifier.startsWith(`${NAME}/`);
  const { parentURL = "" } = context;
  const isPlugin = !parentURL.startsWith(home) && folders.some((folder) => parentURL.startsWith(folder));
  if (!isOurs || !isPlugin) return next(specifier, context);
  const path = bundled(specifier) ?? own.resolve(specifier);
  return { url: pathToFileURL(path).href, path, shortCircuit: true };
}

/** The file of the bundled command that has the modules of an entry, or null. */
function bundled(specifier: string): string | null {
  const name = specifier === NAME ? "index" : specifier.slice(NAME.length + 1);
  const path = fileURLToPath(new URL(`command/${name}.js`, home));
  return isBundled && existsSync(path) ? path : null;
}
