import { existsSync, readdirSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { dirname, join } from "node:path";
import { expect } from "chai";
import * as testing from "../index.js";
import { REPOSITORY } from "../support/repository.js";

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional: boolean }>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

const MANIFEST = JSON.parse(readFileSync(join(REPOSITORY, "package.json"), "utf8")) as Manifest;
const ENTRY = join(REPOSITORY, "test/index.ts");
/** Imports and exports that are there at run time. */
const RUNTIME_IMPORT = /^(?:import|export)\s+(?!type\b)(?:[^"';]*?\sfrom\s+)?"([^"]+)"/gm;

/** The libraries that a file loads, by way of every file of ours that it loads. */
function librariesOf(entry: string): Set<string> {
  const libraries = new Set<string>();
  const seen = new Set<string>();
  const pending = [entry];
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    if (seen.has(path)) continue;
    seen.add(path);
    for (const [, name = ""] of readFileSync(path, "utf8").matchAll(RUNTIME_IMPORT)) {
      if (name.startsWith(".")) {
        const file = join(dirname(path), name).replace(/\.js$/, ".ts");
        if (existsSync(file)) pending.push(file);
      } else if (!name.startsWith("node:") && !builtinModules.includes(name)) {
        libraries.add(name.split("/", name.startsWith("@") ? 2 : 1).join("/"));
      }
    }
  }
  return libraries;
}

describe("fermata/testing", () => {
  it("exports the contract suite of every port", () => {
    const folder = join(REPOSITORY, "test/contract");
    const suites = readdirSync(folder)
      .filter((name) => name.endsWith(".contract.ts"))
      .flatMap((name) => [...readFileSync(join(folder, name), "utf8").matchAll(/^export function (\w+Contract)\(/gm)])
      .map(([, suite = ""]) => suite);
    expect(suites).to.include.members(["ledgerStoreContract", "jobStoreContract", "jobQueueContract"]);
    expect(Object.keys(testing)).to.include.members(suites);
  });

  it("loads only libraries that an installation has, or that the package asks for as peers", () => {
    const libraries = librariesOf(ENTRY);
    expect([...libraries]).to.include.members(["chai", "fflate"]);
    const declared = [...Object.keys(MANIFEST.dependencies), ...Object.keys(MANIFEST.peerDependencies)];
    expect([...libraries].filter((name) => !declared.includes(name))).to.deep.equal([]);
  });

  it("asks for mocha and chai, which only tests need: none is fetched with the package", () => {
    const peers = Object.keys(MANIFEST.peerDependencies);
    expect(peers).to.include.members(["chai", "mocha"]);
    for (const name of peers) expect(MANIFEST.peerDependenciesMeta[name]?.optional, name).to.equal(true);
    for (const name of peers) expect(MANIFEST.devDependencies, name).to.have.property(name);
  });
});
