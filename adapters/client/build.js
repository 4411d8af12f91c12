/**
 * Writes the types of the public API to generated/api.ts, and bundles the client with its libraries into
 * generated/client.js, a module that browsers and Node load as it is; their licences are next to it.
 */
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { licencesOf, ROOT, writeTypes } from "./bundling.js";

const HERE = dirname(fileURLToPath(import.meta.url));
const GENERATED = join(HERE, "generated");

await writeTypes("openapi.json", join(GENERATED, "api.ts"));
const { metafile } = await build({
  entryPoints: [join(HERE, "index.ts")],
  outfile: join(GENERATED, "client.js"),
  bundle: true,
  format: "esm",
  target: ["es2022"],
  minify: true,
  metafile: true,
  legalComments: "none", // in licences.txt, as a whole
  absWorkingDir: ROOT,
  tsconfigRaw: {},
});
writeFileSync(join(GENERATED, "licences.txt"), licencesOf(Object.keys(metafile.inputs)));
