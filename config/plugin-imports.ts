/**
 * Plugins of other packages use the Fermata that runs them: whatever their files import as `fermata-music` is this
 * package, also where their folder has no `fermata-music`, or another one.
 */
import * as nodeModule from "node:module";
import { basename, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { initialize, resolve } from "./running-fermata.js";

/** Of `node:module`, in Node 22.15 and later. */
type RegisterHooks = (hooks: { readonly resolve: typeof resolve }) => void;
/** Of `node:module`: the file that `require` loads for a specifier. */
type ResolveFilename = (request: string, parent?: { readonly filename?: string }, ...rest: unknown[]) => string;

/** The place of the file that runs; `import.meta.url` is where this module was compiled to: config/bundle.js. */
const IS_BUNDLED = basename(import.meta.dirname) === "command";

const served = new Set<string>();

/**
 * Files in `folder` import the running Fermata from now on.
 *
 * @param folder without symbolic links in its path
 */
export function provideFermata(folder: string): void {
  if (served.has(folder)) return;
  const isFirst = served.size === 0;
  served.add(folder);
  const importing = { folder: pathToFileURL(`${folder}/`).href, isBundled: IS_BUNDLED };
  initialize(importing);
  const registerHooks = (nodeModule as { readonly registerHooks?: RegisterHooks }).registerHooks;
  if (registerHooks !== undefined) {
    if (isFirst) registerHooks({ resolve });
    return;
  }
  // These hooks run in a thread of their own, which gets to know each folder by another call.
  nodeModule.register(new URL(`./running-fermata${import.meta.url.slice(-3)}`, import.meta.url), { data: importing });
  if (isFirst) provideToRequire();
}

/** The folder given to {@link provideFermata} that a file is in, or null. */
export function folderOf(file: string): string | null {
  return [...served].find((folder) => file.startsWith(`${folder}${sep}`)) ?? null;
}

/** That thread is not asked for what CommonJS modules require. */
function provideToRequire(): void {
  const internals = nodeModule.Module as unknown as { _resolveFilename: ResolveFilename };
  const resolveAsBefore = internals._resolveFilename;
  internals._resolveFilename = function (this: unknown, request, parent, ...rest) {
    const parentURL = parent?.filename === undefined ? undefined : pathToFileURL(parent.filename).href;
    const found = resolve(request, { parentURL }, () => null);
    return found === null ? resolveAsBefore.call(this, request, parent, ...rest) : found.path;
  };
}
