import { readdirSync, readFileSync } from "node:fs";
import { expect } from "chai";
import { describeSettings } from "../../config/settings.js";
import { repositoryPath } from "../support/repository.js";

/** A sentence of a port's docstring that names the settings which select or configure its adapter. */
const NAMES_SETTINGS =
  /(?:Selected|Configured)\s+(?:\*\s+)?by\s+(?:\*\s+)?((?:`[\w.<>]+`(?:\s+(?:\*\s+)?and\s+(?:\*\s+)?)?)+)/;

describe("The ports of the core", () => {
  const files = readdirSync(repositoryPath("core/ports")).filter((file) => file.endsWith(".ts"));
  const sources = files.map((file) => readFileSync(repositoryPath(`core/ports/${file}`), "utf8"));
  const table = readFileSync(repositoryPath("adapters/README.md"), "utf8");

  it("name in their docstrings the settings that adapters/README.md says they are chosen by", () => {
    const rows = [...chosenBy(table)];
    expect(rows.length).to.be.above(20);
    for (const [port, settings] of rows)
      expect(settingsNamedBy(docstringOf(port, sources)), port).to.have.members(settings);
  });

  it("name only settings that exist", () => {
    const known = new Set([...describeSettings().map(({ path }) => path), "plugins.<id>.use"]);
    const named = sources.flatMap((source) => settingsNamedBy(source));
    expect(named).to.include.members(["storage.url", "queue.url", "plugins.<id>.use"]);
    expect(named.filter((setting) => !known.has(setting))).to.deep.equal([]);
  });
});

/** Each port of the table with the settings beside it; rows without a port belong to the one above. */
function chosenBy(markdown: string): Map<string, readonly string[]> {
  const settings = new Map<string, readonly string[]>();
  let ports: readonly string[] = [];
  for (const line of markdown.split("\n").filter((row) => row.startsWith("| "))) {
    const [first = "", , chosen = ""] = line.slice(1).split("|");
    const named = namesIn(first);
    if (named.length > 0) ports = named;
    const paths = namesIn(chosen)
      .map((path) => path.replace(/:.*/, ""))
      .filter((path) => path.includes("."));
    if (paths.length === 0) continue;
    for (const port of ports) settings.set(port, [...new Set([...(settings.get(port) ?? []), ...paths])]);
  }
  return settings;
}

function namesIn(cell: string): readonly string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name ?? "");
}

function docstringOf(port: string, sources: readonly string[]): string {
  const declaration = new RegExp(`(/\\*\\*(?:(?!\\*/)[\\s\\S])*\\*/)\\nexport interface ${port}\\b`);
  const found = sources.map((source) => declaration.exec(source)?.[1]).find((text) => text !== undefined);
  expect(found, `an interface ${port} with a docstring in core/ports`).to.be.a("string");
  return found ?? "";
}

function settingsNamedBy(text: string): string[] {
  return [...namesIn(NAMES_SETTINGS.exec(text)?.[1] ?? "")];
}
