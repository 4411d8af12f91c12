import { readFileSync } from "node:fs";
import { expect } from "chai";
import { loadSettings } from "../../config/load.js";
import { describeSettings } from "../../config/settings.js";
import type { SettingDescription } from "../../config/settings/describe.js";
import { repositoryPath } from "../support/repository.js";

const README = "config/README.md";

/** A setting's row in the README. On a mismatch, paste this line. */
function rowOf({ path, type, unit, default: fallback, env, description, secret }: SettingDescription): string {
  const shownType = unit === null ? type : `${type}, ${unit}`;
  return `| \`${path}\` | ${shownType}${secret ? ", secret" : ""} | ${fallback} | \`${env}\` | ${description} |`;
}

describe("config/README.md", () => {
  const readme = readFileSync(repositoryPath(README), "utf8");
  const rows = readme.split("\n").filter((line) => /^\| `[a-zA-Z.]+` \| .*`FERMATA_/.test(line));

  it("has a row for every setting, as the code defines it, in the same order, and no other rows", () => {
    expect(rows).to.deep.equal(describeSettings().map(rowOf));
  });

  it("gives examples that load", () => {
    const examples = [...readme.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, example]) => example as string);
    expect(examples).to.not.be.empty;
    for (const example of examples) {
      loadSettings({ env: { FERMATA_CONFIG: "example.yaml" }, cwd: "/", readFile: () => example });
    }
  });

  it("names only environment variables that exist", () => {
    const shells = [...readme.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, shell]) => shell as string).join("\n");
    const assigned = [...shells.matchAll(/\b(FERMATA_[A-Z0-9_]+)=("[^"]*"|\S*)/g)];
    expect(assigned).to.not.be.empty;
    const env = Object.fromEntries(
      assigned.map(([, name, value]) => [name as string, (value as string).replace(/^"|"$/g, "")]),
    );
    delete env["FERMATA_CONFIG"];
    loadSettings({ env, cwd: "/" });
  });
});
