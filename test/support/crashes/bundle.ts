import { readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "esbuild";
import { afterAllTests } from "../setup.js";

const HERE = dirname(fileURLToPath(import.meta.url));
/** Of this process: another one may bundle other modules meanwhile. */
const FOLDER = join(HERE, "bundle", String(process.pid));
const ENTRIES = ["child", "adapters/storage", "adapters/queue", "adapters/audio"];

/** A chunk is elsewhere than the modules in it: each goes on to find files from its own place. */
const inItsPlace: Plugin = {
  name: "in-its-place",
  setup({ onLoad, onResolve }) {
    // Its names would be lost: what a bundle has of a CommonJS package is its default export.
    onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
      kind === "dynamic-import" ? { path, external: true } : undefined,
    );
    onLoad({ filter: /\/dist\/.*\.js$/ }, ({ path }) => {
      const url = `new URL(${JSON.stringify(relative(FOLDER, path))}, import.meta.url).href`;
      return { contents: readFileSync(path, "utf8").replaceAll("import.meta.url", url), loader: "js" };
    });
  },
};

let bundled: Promise<string> | undefined;

/**
 * The process that fails as a few files, packages and all: it starts with a third of the work that a thousand modules
 * take, and a matrix starts it a thousand times.
 *
 * @returns the folder of the modules, each by its name in this one
 */
export function bundledModules(): Promise<string> {
  bundled ??= (async () => {
    afterAllTests(() => rm(FOLDER, { recursive: true }));
    await build({
      entryPoints: Object.fromEntries(ENTRIES.map((name) => [name, join(HERE, `${name}.js`)])),
      outdir: FOLDER,
      bundle: true,
      splitting: true,
      platform: "node",
      format: "esm",
      target: ["node20.19"],
      keepNames: true,
      // Drivers of databases that are not installed, and one that is found by its file.
      external: [
        "better-sqlite3",
        "sqlite3",
        "mysql",
        "mariadb",
        "pg",
        "pg-*",
        "oracledb",
        "tedious",
        "@opentelemetry/*",
        "@aws-sdk/*",
      ],
      banner: {
        js: 'import { createRequire as requireOf } from "node:module"; const require = requireOf(import.meta.url);',
      },
      plugins: [inItsPlace],
      logLevel: "error",
      tsconfigRaw: {},
    });
    return FOLDER;
  })();
  return bundled;
}
