import { readFileSync } from "node:fs";
import { expect } from "chai";
import { refusalOf, wordsOf } from "../support/command-line.js";
import { repositoryPath } from "../support/repository.js";

const README = readFileSync(repositoryPath("README.md"), "utf8");
const SCRIPTS = (
  JSON.parse(readFileSync(repositoryPath("package.json"), "utf8")) as { scripts: Record<string, string> }
).scripts;

/** Script names after `npm run`, and npm's own short forms. */
const scripts = [...README.matchAll(/\bnpm (?:run (?:-s )?)?(start|test|[a-z]+(?::[a-z]+)*)\b/g)]
  .map(([, name]) => name as string)
  .filter((name) => name !== "ci" && name !== "run");

/** The arguments after `npm run -s fermata --`, or after `fermata` in code. */
const commands = [...README.matchAll(/(?:npm run -s fermata --|`fermata|\$ fermata) ([^\n`]+)/g)].map(
  ([, line]) => line as string,
);

describe("The README", () => {
  it("names only npm scripts that exist", () => {
    expect(scripts).to.include.members(["start", "test", "fermata"]);
    for (const name of scripts) expect(SCRIPTS, `npm run ${name}`).to.have.property(name);
  });

  it("shows only commands that exist, with options they take", async () => {
    expect(commands).to.not.be.empty;
    for (const line of commands) expect(await refusalOf(wordsOf(line)), `fermata ${line}`).to.equal(null);
  });
});
