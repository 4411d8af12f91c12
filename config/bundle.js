/**
 * Bundles the command of a checkout into FOLDER/command, which FOLDER/config/main.js then imports in place of the
 * compiled modules: Node loads a few files in half of the time and with less memory than a thousand. Packages stay
 * outside but for those of many small modules, and so does what is one large file already. What another process or
 * thread starts from stays as it was compiled. The package has no bundle: it would have everything twice.
 */
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { build } from "esbuild";
import { licencesOf, ROOT } from "../adapters/client/bundling.js";

/** Packages that are bundled, with a slash at the end those of a scope. None is under a copyleft licence. */
const BUNDLED = ["inversify", "@inversifyjs/", "zod"];

/** Files of ours that are loaded as they are. */
const AS_THEY_ARE = /\.json$|\/mcp\/sdk\.js$/;

/** A day: for so long processes of a version before may run on. */
const KEPT_MS = 86_400_000;

const [, , folder] = process.argv;
if (folder === undefined) throw new Error("Usage: node bundle.js FOLDER");
const dist = resolve(ROOT, folder);
const to = join(dist, "command");

/** Of package.json: a plugin imports these, and has to get the modules that run. */
const { exports } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
const entryOf = (name) => join(dist, relative("./dist", exports[name].default));

/** A chunk is elsewhere than the modules in it: each goes on to find files from its own place. */
const inItsPlace = {
  name: "in-its-place",
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^\./ }, ({ path, importer }) => {
      const file = resolve(dirname(importer), path);
      return file.startsWith(dist) && AS_THEY_ARE.test(file) ? { path: relative(to, file), external: true } : undefined;
    });
    onResolve({ filter: /^[^./]/ }, ({ path, kind }) => {
      if (kind === "entry-point" || isBundled(path)) return undefined;
      return { path, external: true };
    });
    onLoad({ filter: /\.js$/ }, ({ path }) => {
      if (!path.startsWith(dist)) return undefined;
      const url = `new URL(${JSON.stringify(relative(to, path))}, import.meta.url).href`;
      return { contents: readFileSync(path, "utf8").replaceAll("import.meta.url", url), loader: "js" };
    });
  },
};

function isBundled(path) {
  return BUNDLED.some((name) => (name.endsWith("/") ? path.startsWith(name) : `${path}/`.startsWith(`${name}/`)));
}

const { metafile } = await build({
  entryPoints: {
    command: join(dist, "config/command.js"),
    index: entryOf("."),
    provider: entryOf("./provider"),
    express: entryOf("./express"),
  },
  outdir: to,
  bundle: true,
  splitting: true,
  platform: "node",
  format: "esm",
  target: ["node20.19"],
  keepNames: true,
  sourcemap: true,
  sourcesContent: false,
  plugins: [inItsPlace],
  metafile: true,
  legalComments: "none", // in licences.txt, as a whole
  absWorkingDir: ROOT,
  tsconfigRaw: {},
});
writeFileSync(join(to, "licences.txt"), licencesOf(Object.keys(metafile.inputs)));

// A process that runs may still load files of a build before, whose names have their hashes in them.
const written = new Set(Object.keys(metafile.outputs).map((path) => resolve(ROOT, path)));
for (const file of readdirSync(to).map((name) => join(to, name)))
  if (!written.has(file) && Date.now() - statSync(file).mtimeMs > KEPT_MS) rmSync(file);
