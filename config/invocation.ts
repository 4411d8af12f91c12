import { existsSync } from "node:fs";
import { join, sep } from "node:path";

/**
 * How an operator calls `fermata` here: in a checkout and in a folder that has the package it is not on the PATH.
 *
 * @param root the folder of Fermata's package.json
 */
export function invocationIn(root: string): string {
  // Only a checkout has it.
  if (existsSync(join(root, "tsconfig.json"))) return "npm run -s fermata --";
  const folders = root.split(sep);
  // What npx fetches for one call is in a folder of its own, and `fermata` is another package of the registry.
  if (folders.includes("_npx")) return "npx fermata-music";
  return folders.includes("node_modules") ? "npx fermata" : "fermata";
}
