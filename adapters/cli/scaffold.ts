import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { OperationRefusedError } from "../../core/errors.js";

/** Files of a Fermata from which a new package's are copied: path there by path in the package. */
export const COPIED: Readonly<Record<string, string>> = {
  "README.md": "plugins/template/README.md",
  "src/index.ts": "plugins/template/index.ts",
  "src/settings.ts": "plugins/template/settings.ts",
  "src/provider.ts": "plugins/template/provider.ts",
  "src/client.ts": "plugins/template/client.ts",
  "src/map.ts": "plugins/template/map.ts",
  "test/provider.test.ts": "test/plugins/template.test.ts",
  "test/harness.ts": "test/plugins/template-harness.ts",
};

/** What copied files import: specifier there to specifier in the package. */
const SPECIFIERS: Readonly<Record<string, string>> = {
  "../sdk/index.js": "fermata-music/provider",
  "../index.js": "fermata-music/testing",
  "../contracts.js": "fermata-music/testing/contracts",
  "../../plugins/template/index.js": "../src/index.js",
  "../../plugins/template/map.js": "../src/map.js",
  "./template-harness.js": "./harness.js",
};

/** The function that is left to the author: it is replaced by the one of the same name in `UNWRITTEN`. */
const AUTHORS_OWN = "export function toTracks";
export const UNWRITTEN = "plugins/template/unwritten.ts";

const TSCONFIG = {
  compilerOptions: {
    target: "ES2023",
    lib: ["ES2023"],
    module: "NodeNext",
    moduleResolution: "NodeNext",
    rootDir: ".",
    outDir: "dist",
    declaration: true,
    strict: true,
    noUncheckedIndexedAccess: true,
    verbatimModuleSyntax: true,
    skipLibCheck: true,
    types: ["node", "mocha"],
  },
  include: ["src", "test"],
};

/** Versions of what a package is built and tested with. */
export const DEVELOPMENT_TOOLS: Readonly<Record<string, string>> = {
  "@types/mocha": "^10.0.10",
  "@types/node": "^20.19.43",
  chai: "^6.3.0",
  "fast-check": "^4.10.2",
  fflate: "^0.8.3",
  mocha: "^12.0.3",
  typescript: "^5.9.3",
};

/**
 * The files of a provider package that builds, and whose suite is one failing test that names what is left to write:
 * copies of `plugins/template` and of its tests, under the provider's names.
 *
 * @param id the provider's id
 * @param root the folder of the Fermata that the package is built and tested with; it is on no registry
 * @returns text by path
 * @throws {OperationRefusedError} this installation has no template, such as the container image
 */
export async function scaffold(id: string, root: string): Promise<ReadonlyMap<string, string>> {
  const read = (path: string): Promise<string> => readTemplate(join(root, path));
  const files = new Map([
    ["package.json", jsonFile(packageJson(id, root))],
    ["tsconfig.json", jsonFile(TSCONFIG)],
    [".gitignore", "dist/\nnode_modules/\n"],
  ]);
  const unwritten = await read(UNWRITTEN);
  for (const [path, from] of Object.entries(COPIED)) {
    const text = (await read(from)).replace(
      bodyFrom(AUTHORS_OWN),
      () => bodyFrom(AUTHORS_OWN).exec(unwritten)?.[0] ?? "",
    );
    files.set(path, renamed(withSpecifiers(text), id));
  }
  return files;
}

async function readTemplate(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    const where = "run this command in a checkout, or from the npm package";
    throw new OperationRefusedError(`The template of a plugin package is not in this installation; ${where}.`, {
      cause,
    });
  }
}

/** The text from `start` to the end. */
function bodyFrom(start: string): RegExp {
  return new RegExp(`^${start}\\b[^]*`, "m");
}

function withSpecifiers(text: string): string {
  return text.replace(/(?<=^(?:import|\}) .*from )"([^"]+)"/gm, (whole, specifier: string) =>
    Object.hasOwn(SPECIFIERS, specifier) ? JSON.stringify(SPECIFIERS[specifier]) : whole,
  );
}

/** The copied text with the provider's id, label and class in place of the template's. */
function renamed(text: string, id: string): string {
  const words = id.split("-").filter((word) => word !== "");
  const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
  const joined = words.map(capital).join("");
  // A class cannot begin with a digit.
  const className = /^\d/.test(joined) ? `The${joined}` : joined;
  return text
    .replaceAll("TemplateProvider", () => `${className}Provider`)
    .replaceAll("Template", () => words.map(capital).join(" "))
    .replaceAll("template", () => id);
}

function packageJson(id: string, root: string): object {
  return {
    name: `fermata-${id}`,
    version: "0.1.0",
    description: "A provider plugin for Fermata",
    type: "module",
    exports: "./dist/src/index.js",
    files: ["dist/src"],
    scripts: {
      build: "tsc",
      check: "tsc && fermata plugins check .",
      test: "tsc && mocha --timeout 20000 'dist/test/*.test.js'",
      prepack: "tsc",
    },
    // Optional: npm fetches no other Fermata for it; the one that loads the plugin is there.
    peerDependencies: { "fermata-music": "*" },
    peerDependenciesMeta: { "fermata-music": { optional: true } },
    devDependencies: { "fermata-music": `file:${root}`, ...DEVELOPMENT_TOOLS },
  };
}

function jsonFile(document: object): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}
