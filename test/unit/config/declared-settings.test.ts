import { expect } from "chai";
import { validateOwnSettings } from "../../../config/settings/declared-settings.js";
import type { GivenSetting } from "../../../config/settings/definition.js";
import type { ProviderSetting } from "../../../core/ports/music-provider.js";

const DECLARED: Readonly<Record<string, ProviderSetting>> = {
  apiKey: { type: "string", required: true, secret: true, description: "Key" },
  region: { type: "string", default: "eu", allowed: ["eu", "us"], description: "Where" },
  timeoutMs: { type: "integer", default: 30_000, minimum: 1_000, maximum: 60_000, description: "Per request" },
  keepStems: { type: "boolean", default: true, description: "Whether" },
  license: { type: "string", secret: true, default: "none", description: "A secret whose name does not say so" },
  label: { type: "string", description: "Optional, without a default" },
};

const QUOTES = (type: string): string => `The value is a ${type}: a text that looks like one needs quotes there`;
const inFile = (value: unknown): GivenSetting => ({ value, origin: "fermata.yaml", isText: false });
const inEnvironment = (value: string, name: string): GivenSetting => ({
  value,
  origin: `FERMATA_PLUGINS__P__${name}`,
  isText: true,
});

const check = (given: Readonly<Record<string, GivenSetting>>) => validateOwnSettings("plugins.p", DECLARED, given);

describe("a plugin's own settings", () => {
  it("take their defaults; without one they are absent", () => {
    const { values, issues: found } = check({ apiKey: inFile("k") });
    expect(found).to.deep.equal([]);
    expect(values).to.deep.equal({ apiKey: "k", region: "eu", timeoutMs: 30_000, keepStems: true, license: "none" });
    expect(Object.isFrozen(values)).to.equal(true);
  });

  it("are converted when they come from the environment", () => {
    const { values, issues: found } = check({
      apiKey: inEnvironment("12345", "API_KEY"),
      timeoutMs: inEnvironment("5000", "TIMEOUT_MS"),
      keepStems: inEnvironment("false", "KEEP_STEMS"),
    });
    expect(found).to.deep.equal([]);
    expect(values).to.include({ apiKey: "12345", timeoutMs: 5_000, keepStems: false });
  });

  it("are not converted when they come from a file", () => {
    const { issues: found } = check({
      apiKey: inFile(12345),
      timeoutMs: inFile("5000"),
      keepStems: inFile("false"),
    });
    expect(found).to.have.length(3);
  });

  it("are found by their words when the environment has lost the capitals", () => {
    const declared = { baseURL: { type: "string", description: "Address" } } as const;
    const { values } = validateOwnSettings("plugins.p", declared, {
      baseUrl: inEnvironment("https://a.example", "BASE_URL"),
    });
    expect(values).to.deep.equal({ baseURL: "https://a.example" });
  });

  it("report every issue, a line each, secrets masked", () => {
    const { issues: found } = check({
      apiKey: inFile(["hunter2"]),
      region: inFile("moon"),
      timeoutMs: inEnvironment("10", "TIMEOUT_MS"),
      keepStems: inEnvironment("yes", "KEEP_STEMS"),
      license: inFile(["hunter2"]),
      labl: inFile("x"),
    });
    expect(found).to.deep.equal([
      "plugins.p.labl (fermata.yaml): unknown setting; did you mean plugins.p.label?",
      "plugins.p.apiKey (fermata.yaml): [redacted] is not allowed; allowed: a text that is not empty. " +
        "The value is a list",
      'plugins.p.region (fermata.yaml): "moon" is not allowed; allowed: eu, us',
      'plugins.p.timeoutMs (FERMATA_PLUGINS__P__TIMEOUT_MS): "10" is not allowed; allowed: an integer of at least ' +
        "1000 and at most 60000",
      'plugins.p.keepStems (FERMATA_PLUGINS__P__KEEP_STEMS): "yes" is not allowed; allowed: true or false',
      "plugins.p.license (fermata.yaml): [redacted] is not allowed; allowed: a text that is not empty. " +
        "The value is a list",
    ]);
  });

  it("that are texts name the type of what is none, never the value of a secret", () => {
    const line = (apiKey: unknown): string | undefined => check({ apiKey: inFile(apiKey) }).issues[0];
    const refused = "plugins.p.apiKey (fermata.yaml): [redacted] is not allowed; allowed: a text that is not empty";
    expect(line(12345)).to.equal(`${refused}. ${QUOTES("number")}`);
    expect(line(true)).to.equal(`${refused}. ${QUOTES("boolean")}`);
    expect(line(null)).to.equal(`${refused}. There is no value`);
    expect(line({ a: 12345 })).to.equal(`${refused}. The value is a group of settings`);
    expect(line("")).to.equal(refused);
  });

  it("may be empty only where the plugin says so", () => {
    const declared = {
      pointer: { type: "string", default: "/id", canBeEmpty: true, description: "Empty for the whole" },
      path: { type: "string", default: "/", description: "A path" },
    } as const;
    const { values, issues: found } = validateOwnSettings("plugins.p", declared, {
      pointer: inFile(""),
      path: inFile(""),
    });
    expect(values["pointer"]).to.equal("");
    expect(found).to.deep.equal([
      'plugins.p.path (fermata.yaml): "" is not allowed; allowed: a text that is not empty',
    ]);
    const [issue] = validateOwnSettings("plugins.p", declared, { pointer: inFile(7) }).issues;
    expect(issue).to.equal("plugins.p.pointer (fermata.yaml): 7 is not allowed; allowed: a text. " + QUOTES("number"));
  });

  it("must be there when they are required", () => {
    expect(check({}).issues).to.deep.equal([
      "plugins.p.apiKey: missing; set it, or FERMATA_PLUGINS__P__API_KEY; allowed: a text that is not empty",
    ]);
  });

  it("take a fraction and a number beyond exactness for no integer", () => {
    expect(check({ apiKey: inFile("k"), timeoutMs: inFile(1_000.5) }).issues).to.have.length(1);
    expect(check({ apiKey: inFile("k"), timeoutMs: inFile(2 ** 60) }).issues).to.have.length(1);
  });

  it("are not misled by names that every object has", () => {
    expect(check({ apiKey: inFile("k"), constructor: inFile("x") }).issues).to.have.length(1);
  });
});
