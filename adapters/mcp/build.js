/**
 * Bundles what is used of the official SDK into FOLDER/sdk.js, in place of the compiled `sdk.ts`, with the licences of
 * what it contains next to it. zod stays outside: it is installed with Fermata anyway.
 */
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { licencesOf, ROOT } from "../client/bundling.js";

const HERE = dirname(fileURLToPath(import.meta.url));

const [, , folder] = process.argv;
if (folder === undefined) throw new Error("Usage: node build.js FOLDER");

const { metafile } = await build({
  entryPoints: [join(HERE, "sdk.ts")],
  outfile: join(folder, "sdk.js"),
  bundle: true,
  platform: "node",
  format: "esm",
  target: ["node20"],
  minify: true,
  keepNames: true,
  external: ["zod", "zod/*"],
  // Its validator of JSON Schema is replaced by json-schema.ts.
  alias: { "@modelcontextprotocol/server/_shims": join(HERE, "shims.js") },
  metafile: true,
  legalComments: "none", // in licences.txt, as a whole
  absWorkingDir: ROOT,
  tsconfigRaw: {},
});
writeFileSync(join(folder, "licences.txt"), licencesOf(Object.keys(metafile.inputs)));
