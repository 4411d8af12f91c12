/**
 * Bundles the pages into FOLDER: PAGE.js and PAGE.css of each, and the licences of what they contain. The types of both
 * APIs are written to generated/ first, from the descriptions that tsoa wrote.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import openapiTS, { astToString } from "openapi-typescript";
import { licencesOf } from "./licences.js";

const HERE = dirname(fileURLToPath(import.meta.url));
const ROOT = join(HERE, "../..");
const PAGES = ["console", "studio"];
const DESCRIPTIONS = { api: "openapi.json", "admin-api": "admin/openapi.json" };

const [, , folder] = process.argv;
if (folder === undefined) throw new Error("Usage: node build.js FOLDER");

await writeTypes();
rmSync(folder, { recursive: true, force: true });
const inputs = [];
for (const page of PAGES) inputs.push(...(await bundle(page)));
writeFileSync(join(folder, "licences.txt"), licencesOf(inputs));

/** What a page imports when it needs it is in files of their own, PAGE-NAME-HASH.js. @returns the bundled files */
async function bundle(page) {
  const { metafile } = await build({
    entryPoints: { [page]: join(HERE, page, "main.tsx") },
    outdir: folder,
    bundle: true,
    splitting: true,
    chunkNames: `${page}-[name]-[hash]`,
    format: "esm",
    target: ["es2022"],
    minify: true,
    metafile: true,
    legalComments: "none", // in licences.txt, as a whole
    jsx: "automatic",
    jsxImportSource: "preact",
    absWorkingDir: ROOT,
    tsconfigRaw: {},
  });
  return Object.keys(metafile.inputs);
}

async function writeTypes() {
  const types = join(HERE, "generated");
  mkdirSync(types, { recursive: true });
  for (const [name, file] of Object.entries(DESCRIPTIONS)) {
    const description = JSON.parse(readFileSync(join(HERE, "../http/generated", file), "utf8"));
    writeFileSync(join(types, `${name}.ts`), astToString(await openapiTS(description)));
  }
}
