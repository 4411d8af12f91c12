import { readFileSync } from "node:fs";
import { expect } from "chai";
import { parse } from "yaml";
import { programsIn } from "../support/readme-programs.js";
import { repositoryPath } from "../support/repository.js";
import { ApiMembers } from "../support/api-members.js";
import { type TestingEntries, testingEntries } from "../support/testing-entries.js";

/** Settings in programs of an embedding app, each with a part of the one error that the compiler has for it. */
const WRONG_SETTINGS = {
  "{ htpp: { port: 9000 } }": "'htpp' does not exist",
  "{ http: { prot: 9000 } }": "'prot' does not exist",
  '{ http: { port: "9000" } }': "Type 'string' is not assignable to type 'number'",
  '{ http: "9000" }': "has no properties in common",
  "{ http: 9000 }": "has no properties in common",
  '{ rateLimits: { store: "redis" } }': '"redis"',
  "{ tiers: { studio: { maxConcurent: 50 } } }": "'maxConcurent' does not exist",
  '{ tiers: { studio: { monthlyCredits: "20000" } } }': "Type 'string' is not assignable to type 'number'",
  '{ webhooks: { scheduleSeconds: "5,60" } }': "Type 'string' is not assignable to type 'readonly number[]'",
  '{ plugins: { synth: { enabled: "yes" } } }': "is not assignable to type",
  '{ plugins: { synth: { models: ["synth/song"] } } }': "GivenModel",
  "{ plugins: { synth: true } }": "is not assignable to type",
} as const;

const RIGHT_SETTINGS = [
  "{}",
  "{ http: {}, tiers: null, metrics: undefined }",
  "{ http: { port: 9000, publicUrl: null, trustProxy: 1, webhookScope: 'profile:read' }, metrics: { port: null } }",
  "{ http: { trustProxy: ['loopback'] }, webhooks: { scheduleSeconds: [5, 60], allowHosts: ['hooks.internal'] } }",
  "{ tiers: { pro: { rateLimits: { read: { perMinute: 5 } } }, studio: { maxConcurrent: 5, monthlyCredits: 9 } } }",
  "{ plugins: { synth: { keepStems: false }, 'my-own': { use: './mine.js', apiKey: '…', depth: { of: [1] } } } }",
  "{ plugins: { synth: { models: [{ id: 'synth/song', creditCost: 3 }, { id: 'synth/hum', enabled: false }] } } }",
];

/** Of the types of settings, the documentation is that of the settings. */
const SETTINGS = ["settings"];
/** What a server of the API is given, which presents less of it. */
const FOR_SERVERS = ["api"];
function loading(overrides: string): string {
  return `loadSettings({ env: {}, cwd: "/", overrides: ${overrides} });`;
}

describe("The types that an embedding app compiles against", function () {
  this.timeout(60_000);
  let entries: TestingEntries;
  before(() => {
    entries = testingEntries();
  });

  /** The errors of each of these programs, which use exports without importing them. */
  function errorsIn(codes: readonly string[]): string[][] {
    const errors = entries.errorsOf(codes);
    return codes.map((code) => errors.filter((error) => error.includes(`${code}\n`)));
  }

  describe("of settings", () => {
    it("accept every setting in the shape of the file, and any setting under a plugin", () => {
      expect(entries.errorsOf(RIGHT_SETTINGS.map(loading))).to.deep.equal([]);
    });

    it("accept the file of the README as it is", () => {
      const readme = readFileSync(repositoryPath("config/README.md"), "utf8");
      const [, section = ""] = readme.split("## Settings by example\n");
      const [, yaml = ""] = /```yaml\n([^]*?)```/.exec(section) ?? [];
      const file = parse(yaml) as object;
      expect(file).to.include.keys("http", "tiers", "plugins");
      expect(entries.errorsOf([loading(JSON.stringify(file))])).to.deep.equal([]);
    });

    it("refuse an unknown name and a value of another type, naming it", () => {
      const errors = errorsIn(Object.keys(WRONG_SETTINGS).map(loading));
      for (const [index, [overrides, message]] of Object.entries(WRONG_SETTINGS).entries()) {
        expect(errors[index], overrides).to.have.lengthOf(1);
        expect(errors[index]?.[0]).to.include(message);
      }
    });
  });

  it("accept the program of core/README.md on ports of its own", () => {
    const programs = programsIn("core/README.md", "fermata-music");
    const program = programs.find((text) => text.includes("./own-adapters.js")) ?? "";
    const code = program
      .replace('import { createCore } from "fermata-music";\n', "")
      .replace('"./own-adapters.js"', '"./support/own-adapters.js"');
    expect(code).to.include("createCore(ports, options)").and.not.include("fermata-music");
    expect(entries.errorsOf([code])).to.deep.equal([]);
  });

  it("accept the adapter of adapters/README.md, and give its settings the types that it declares", () => {
    const programs = programsIn("adapters/README.md", "fermata-music");
    expect(programs).to.have.lengthOf(1);
    const code = (programs[0] ?? "").replace(/^import .* from "fermata-music";\n/, "");
    expect(code).to.include("defineAdapter({").and.not.include("fermata-music");
    expect(entries.errorsOf([code])).to.deep.equal([]);
    const [error = ""] = entries.errorsOf([code.replace('type: "string"', 'type: "integer"')]);
    expect(error).to.include("'number' is not assignable to parameter of type 'string'");
  });

  describe("of App and Core", () => {
    let api: ApiMembers;
    before(() => {
      api = new ApiMembers();
    });

    for (const type of ["App", "Core"]) {
      it(`say what every member of ${type} and of its use cases is`, () => {
        const members = api.membersOf(type, [...SETTINGS]);
        const names = members.map(({ name }) => name);
        expect(names).to.include.members([`${type}.accounts`, "ManageAccounts.ensure", "ManageCredits.grant"]);
        const undocumented = members.filter(({ documentation }) => documentation === "");
        expect(undocumented.map(({ name }) => name)).to.deep.equal([]);
      });

      it(`return no secret, hash or sealed text, nor that by which workers hold jobs: ${type}`, () => {
        const internals = ["fence", "leaseOwner", "handle", "sealedSecret", "retiredSecrets", "tokenHash"];
        expect(api.returnedMembers(type, internals, [...SETTINGS, ...FOR_SERVERS])).to.deep.equal([]);
        expect(api.returnedMembers(type, ["shareToken"])).to.include.members([
          "library.manage.share.shareToken",
          "library.read.search.tracks.shareToken",
        ]);
      });
    }
  });
});
