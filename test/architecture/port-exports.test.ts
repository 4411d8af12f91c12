import { expect } from "chai";
import * as main from "../../config/index.js";
import { memberTypes, parseSource, portSources } from "../support/port-docs.js";
import { repositoryPath } from "../support/repository.js";
import { MAIN_ENTRY, type TestingEntries, testingEntries } from "../support/testing-entries.js";

const PORTS = [
  ...memberTypes(parseSource("core/ports/stores.ts"), "Stores").values(),
  ...memberTypes(parseSource("core/ports/core-ports.ts"), "CorePorts").values(),
];
const PORTS_FOLDER = repositoryPath("core/ports/");

/** Every error that the docs of a port say it throws, or is to throw. */
const THROWN = new Set(
  portSources().flatMap((source) => [...source.text.matchAll(/@throws \{(\w+)\}/g)].map(([, name]) => name as string)),
);

describe("The main entry of the package", function () {
  this.timeout(60_000);
  let entries: TestingEntries;
  before(() => {
    entries = testingEntries();
  });

  it("exports every port", () => {
    expect(PORTS).to.include.members(["RateLimiter", "LeaseRenewal", "Metrics", "UnitOfWork", "JobQueue"]);
    const names = entries.exportsOf(MAIN_ENTRY).map(({ name }) => name);
    expect(names).to.include.members([...PORTS, "CorePorts", "Stores", "Overrides"]);
  });

  it("exports every type that a port mentions", () => {
    const isPort = (file: string): boolean => file.startsWith(PORTS_FOLDER);
    expect(entries.unexportedTypes(MAIN_ENTRY, [MAIN_ENTRY], isPort)).to.deep.equal([]);
    // The check itself finds what is not exported: the types of the use cases are not all there.
    expect(entries.unexportedTypes(MAIN_ENTRY, [])).to.include("JobQueue: JobNotification");
  });

  it("exports every error that an adapter throws, as a class", () => {
    expect([...THROWN]).to.include.members(["AudioTooLargeError", "ServiceUnavailableError", "ProviderFailure"]);
    const missing = [...THROWN].filter((name) => name !== "Error" && typeof Reflect.get(main, name) !== "function");
    expect(missing).to.deep.equal([]);
  });
});
