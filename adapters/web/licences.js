/** The licences of what a bundle contains. */
import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "../..");

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
