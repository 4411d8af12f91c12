import { readdirSync, readFileSync } from "node:fs";
import { expect } from "chai";
import * as contracts from "../contracts.js";
import { repositoryPath } from "../support/repository.js";
import { librariesOf, TESTING_ENTRIES, type TestingEntries, testingEntries } from "../support/testing-entries.js";

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional: boolean }>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

const MANIFEST = JSON.parse(readFileSync(repositoryPath("package.json"), "utf8")) as Manifest;
const DEPENDENCIES = Object.keys(MANIFEST.dependencies);
/** Some installations lack them: only functions that are called may need them. */
const OPTIONAL = Object.keys(MANIFEST.optionalDependencies);
const PEERS = Object.keys(MANIFEST.peerDependencies);
const DOUBLES = TESTING_ENTRIES["fermata-music/testing"];
const CONTRACTS = TESTING_ENTRIES["fermata-music/testing/contracts"];

describe("The entries for tests of other packages", function () {
  this.timeout(60_000);
  let entries: TestingEntries;
  before(() => {
    entries = testingEntries();
  });

  it("load only dependencies of the package for doubles, and for contract suites its peers too", () => {
    const undeclared = (names: ReadonlySet<string>, declared: readonly string[]): string[] =>
      [...names].filter((name) => !declared.includes(name));
    const [doubles, suites] = [librariesOf(DOUBLES), librariesOf(CONTRACTS)];
    expect(undeclared(doubles.loaded, DEPENDENCIES)).to.deep.equal([]);
    expect([...suites.loaded]).to.include.members(["chai", "fast-check", "fflate"]);
    expect(undeclared(suites.loaded, [...DEPENDENCIES, ...PEERS])).to.deep.equal([]);
    for (const { later } of [doubles, suites])
      expect(undeclared(later, [...DEPENDENCIES, ...PEERS, ...OPTIONAL])).to.deep.equal([]);
  });

  it("need peers that are optional: none is installed with the package", () => {
    expect(PEERS).to.include.members(["chai", "mocha"]);
    for (const name of PEERS) expect(MANIFEST.peerDependenciesMeta[name]?.optional, name).to.equal(true);
    for (const name of PEERS) expect(MANIFEST.devDependencies, name).to.have.property(name);
  });

  it("export the contract suite of every port", () => {
    const folder = repositoryPath("test/contract");
    const suites = readdirSync(folder)
      .filter((name) => name.endsWith(".contract.ts"))
      .flatMap((name) => [...readFileSync(`${folder}/${name}`, "utf8").matchAll(/^export function (\w+Contract)\(/gm)])
      .map(([, suite = ""]) => suite);
    expect(suites).to.include.members(["ledgerStoreContract", "jobStoreContract", "jobQueueContract"]);
    expect(Object.keys(contracts)).to.have.members([...suites, "runAdapterContract", "storageUnderTest"]);
  });

  it("export every type that their signatures mention, unless another entry does", () => {
    expect(entries.unexportedTypes(CONTRACTS)).to.deep.equal([]);
    expect(entries.unexportedTypes(DOUBLES)).to.deep.equal([]);
  });

  it("document every export of the doubles and every suite, and show each double and builder in an example", () => {
    const doubles = entries.exportsOf(DOUBLES);
    const suites = entries.exportsOf(CONTRACTS).filter(({ name, isUsable }) => isUsable || name.endsWith("UnderTest"));
    const undocumented = [...doubles, ...suites].filter(({ documentation }) => documentation === "");
    expect(undocumented.map(({ name }) => name)).to.deep.equal([]);
    const usable = doubles.filter(({ isUsable }) => isUsable);
    expect(usable.map(({ name }) => name)).to.include.members(["ManualClock", "anAccount", "submitFails"]);
    expect(usable.filter(({ examples }) => examples.length === 0).map(({ name }) => name)).to.deep.equal([]);
  });

  it("have examples that compile", () => {
    const examples = [DOUBLES, CONTRACTS].flatMap((entry) => entries.exportsOf(entry).flatMap((one) => one.examples));
    expect(examples.length).to.be.greaterThan(50);
    expect(entries.errorsOf(examples)).to.deep.equal([]);
    expect(entries.errorsOf(["new ManualClock().advanceBy(1);"])).to.have.lengthOf(1);
  });
});
