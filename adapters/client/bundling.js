/** What the bundles of the client and of the pages have in common. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import openapiTS, { astToString } from "openapi-typescript";

const HERE = dirname(fileURLToPath(import.meta.url));
export const ROOT = join(HERE, "../..");

/**
 * Writes the types of an API.
 *
 * @param description the name of its file in adapters/http/generated
 * @param file what is written
 */
export async function writeTypes(description, file) {
  mkdirSync(dirname(file), { recursive: true });
  const text = readFileSync(join(ROOT, "adapters/http/generated", description), "utf8");
  writeFileSync(file, astToString(await openapiTS(JSON.parse(text))));
}

/** @param inputs paths of bundled files @throws {Error} a package among them has no licence text */
export function licencesOf(inputs) {
  const names = inputs.flatMap(
    (path) => /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules\/)/.exec(path)?.[1] ?? [],
  );
  return [...new Set(names)]
    .sort()
    .map((name) => {
      const at = join(ROOT, "node_modules", name);
      const { version, license } = JSON.parse(readFileSync(join(at, "package.json"), "utf8"));
      return `${name} ${version} (${license})\n\n${licenceText(at).trim()}\n`;
    })
    .join(`\n${"-".repeat(80)}\n\n`);
}

function licenceText(at) {
  for (const name of ["LICENSE", "LICENSE.md", "LICENSE.txt"]) {
    try {
      return readFileSync(join(at, name), "utf8");
    } catch (error) {
      if (error.code !== "ENOENT") throw error;
    }
  }
  throw new Error(`${relative(ROOT, at)} has no text of its licence`);
}
