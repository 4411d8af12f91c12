/** A resolve hook for Node; a thread of its own loads this file too where Node has no `registerHooks`. */
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const NAME = "fermata-music";

/** Finds this package by its own name, through its `exports`. */
const own = createRequire(import.meta.url);

/** Where the files of this package are. They import it as it is, also where a folder of plugins has them in it. */
const home = new URL("../", import.meta.url).href;

/** URLs with a slash at their end. */
const folders: string[] = [];

/** Adds a folder whose files import this package as `fermata-music`. @param folder its URL, with a slash at its end */
export function initialize(folder: string): void {
  folders.push(folder);
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
  const path = own.resolve(specifier);
  return { url: pathToFileURL(path).href, path, shortCircuit: true };
}
