import { expect } from "chai";
import ts from "typescript";
import { describeSettings } from "../../config/settings.js";
import {
  memberTypes,
  parseSource,
  type PortDocs,
  portDocs,
  portSources,
  selectionTables,
} from "../support/port-docs.js";

const BINDINGS = parseSource("config/bindings/ports.ts");
const SETTINGS = describeSettings().map(({ path }) => path);
const STORES = memberTypes(parseSource("core/ports/stores.ts"), "Stores");
const OTHERS = memberTypes(parseSource("core/ports/core-ports.ts"), "CorePorts");
/** Each port with its override of `compose`; a store has none of its own, since all of them are replaced together. */
const PORTS = new Map<string, string | null>([
  ...[...STORES.values()].map((port) => [port, null] as const),
  ...[...OTHERS].map(([member, port]) => [port, member] as const),
  ["Stores", "stores"],
]);
const DOCS = new Map(portSources().flatMap((source) => [...portDocs(source)]));

/** Ports that a setting selects by other means than a table: a URL, a condition, a plugin's module. */
const SELECTED_OTHERWISE: Readonly<Record<string, string>> = {
  ...Object.fromEntries([...STORES.values()].map((port) => [port, "storage.url"])),
  LeaseRenewal: "storage.url",
  RateLimiter: "rateLimits.store",
  SecretKeys: "secrets.key",
  Metrics: "metrics.enabled",
  Tracer: "tracing.endpoint",
  MusicProvider: "plugins.ID.use",
  JobQueue: "queue.url",
  AudioStore: "audio.url",
};

/** The setting whose values are the keys of a table: of `Settings["audio"]["analyser"]` it is `audio.analyser`. */
function settingOf(keys: string): string {
  return [...keys.matchAll(/\["(\w+)"\]/g)].map(([, name]) => name as string).join(".");
}

const SELECTED: ReadonlyMap<string, string> = new Map([
  ...Object.entries(SELECTED_OTHERWISE),
  ...selectionTables(BINDINGS).map(({ port, keys }) => [port, settingOf(keys)] as const),
]);

/** What a port's docs lack, or say wrongly, a line each. @param override of `compose`; null: none */
function docsIssues(port: string, override: string | null, docs: PortDocs | undefined): string[] {
  const selectedBy = SELECTED.get(port) ?? null;
  const said = docs ?? { selectedBy: null, override: null };
  const issues: string[] = [];
  if (said.selectedBy !== null && !SETTINGS.includes(said.selectedBy))
    issues.push(`${port}: there is no setting ${said.selectedBy}`);
  if (said.selectedBy !== selectedBy)
    issues.push(`${port}: selected by ${said.selectedBy}; it is ${selectedBy}: "Selected by \`${selectedBy}\`"`);
  if (said.override !== override)
    issues.push(`${port}: override ${said.override}; it is ${override}: "the override \`${override}\` of \`compose\`"`);
  return issues;
}

describe("The docs of the ports", () => {
  it("name the setting that selects the adapter, or how else it is replaced", () => {
    const issues = [...PORTS, ["MusicProvider", null] as const].flatMap(([port, override]) =>
      docsIssues(port, override, DOCS.get(port)),
    );
    expect(issues.join("\n")).to.equal("");
  });

  it("name a setting and an override nowhere else", () => {
    const ports = new Set([...PORTS.keys(), "MusicProvider"]);
    const others = [...DOCS].filter(([name, { selectedBy, override }]) => !ports.has(name) && (selectedBy ?? override));
    expect(others).to.deep.equal([]);
  });

  it("are compared with every table of config that a setting selects from", () => {
    const fromTables = selectionTables(BINDINGS).map(({ port }) => port);
    expect(fromTables).to.have.members(["AudioAnalyser"]);
    expect([...SELECTED.values()].filter((path) => !SETTINGS.includes(path))).to.deep.equal([]);
    expect([...SELECTED.keys()].filter((port) => !DOCS.has(port))).to.deep.equal([]);
  });
});

describe("The check of the ports' docs", () => {
  const issuesOf = (comment: string, port: string, override: string): string[] => {
    const text = `/** ${comment} */\nexport interface ${port} {}`;
    const source = ts.createSourceFile("port.ts", text, ts.ScriptTarget.Latest, true);
    return docsIssues(port, override, portDocs(source).get(port));
  };

  it("takes a sentence that is right, on one line or on two", () => {
    expect(
      issuesOf("Wakes workers. Selected by `queue.url`;\n * the override `queue` of `compose`.", "JobQueue", "queue"),
    ).to.deep.equal([]);
    expect(issuesOf("Hashes. Replaced through the override `digest` of `compose`.", "Digest", "digest")).to.deep.equal(
      [],
    );
  });

  it("finds a sentence that is missing, and a setting that does not exist or is another's", () => {
    expect(issuesOf("Counts requests.", "RateLimiter", "rateLimiter")).to.have.lengthOf(2);
    expect(issuesOf("Selected by `rateLimits.where`.", "RateLimiter", "rateLimiter")).to.have.lengthOf(3);
    expect(issuesOf("Selected by `queue.url`.", "RateLimiter", "rateLimiter")).to.have.lengthOf(2);
    expect(issuesOf("Selected by `queue.url`.", "JobQueue", "queue")).to.have.lengthOf(1);
    expect(issuesOf("Hashes.", "Digest", "digest")).to.have.lengthOf(1);
  });
});
