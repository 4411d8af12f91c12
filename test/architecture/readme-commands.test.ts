import { readFileSync } from "node:fs";
import { expect } from "chai";
import { refusalOf, wordsOf } from "../support/command-line.js";
import { repositoryPath } from "../support/repository.js";

const GUIDES = [
  "README.md",
  ".github/CONTRIBUTING.md",
  "adapters/cli/README.md",
  "core/generations/README.md",
  "core/library/README.md",
  "core/webhooks/README.md",
];

const SCRIPTS = (
  JSON.parse(readFileSync(repositoryPath("package.json"), "utf8")) as { scripts: Record<string, string> }
).scripts;

for (const path of GUIDES) {
  describe(path, () => {
    const text = readFileSync(repositoryPath(path), "utf8");
    /** Script names after `npm run`, and npm's own short forms. */
    const scripts = [...text.matchAll(/\bnpm (?:run (?:-s )?)?(start|test|[a-z]+(?::[a-z]+)*)\b/g)]
      .map(([, name]) => name as string)
      .filter((name) => name !== "ci" && name !== "run");
    /** The words after `npm run -s fermata --`, or after `fermata` in code. */
    const commands = [...text.matchAll(/(?:npm run -s fermata --|`fermata|\$ fermata) ([^\n`]+)/g)].map(
      ([, line]) => line as string,
    );

    it("names only npm scripts that exist", () => {
      expect(scripts).to.not.be.empty;
      for (const name of scripts) expect(SCRIPTS, `npm run ${name}`).to.have.property(name);
    });

    it("shows only commands that exist, with options they take", async () => {
      for (const line of commands) expect(await refusalOf(wordsOf(line)), `fermata ${line}`).to.equal(null);
    });
  });
}

describe("README.md", () => {
  it("shows the two commands that start and test a fresh checkout", () => {
    const text = readFileSync(repositoryPath("README.md"), "utf8");
    for (const command of ["npm ci && npm start", "npm ci && npm test", "npm run -s fermata -- doctor"])
      expect(text).to.include(`\n${command}\n`);
  });
});
