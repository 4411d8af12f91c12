import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The top of the checkout, whether this runs from the sources or from dist/. */
export const REPOSITORY = findTop(dirname(fileURLToPath(import.meta.url)));

export function repositoryPath(...parts: readonly string[]): string {
  return join(REPOSITORY, ...parts);
}

function findTop(directory: string): string {
  if (existsSync(join(directory, "package.json"))) return directory;
  const above = dirname(directory);
  if (above === directory) throw new Error("The tests run inside a checkout, below its package.json.");
  return findTop(above);
}
