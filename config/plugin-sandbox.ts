import { fileURLToPath } from "node:url";
import { openProviderSandbox } from "../adapters/sandbox/index.js";
import type { OpenSandbox } from "../core/ports/music-provider.js";
import { folderOf } from "./plugin-imports.js";

/** Opens a sandbox in whose processes a plugin's files import the running Fermata too. */
export const openPluginSandbox: OpenSandbox = (handler, limits) => {
  const folder = folderOf(fileURLToPath(handler));
  return openProviderSandbox(folder === null ? handler : moduleIn(folder, handler), limits);
};

/** A module that provides this Fermata to the files of `folder`, and exports what the module at `url` exports. */
export function moduleIn(folder: string, url: URL): URL {
  const module = new URL(`./plugin-module${import.meta.url.slice(-3)}`, import.meta.url);
  module.search = new URLSearchParams({ folder, url: url.href }).toString();
  return module;
}
