import { readFileSync } from "node:fs";
import { Writable } from "node:stream";
import { expect } from "chai";
import { runCli } from "../../adapters/cli/program.js";
import type { CliHost } from "../../adapters/cli/host.js";
import { repositoryPath } from "../support/repository.js";

const README = readFileSync(repositoryPath("README.md"), "utf8");
const SCRIPTS = (JSON.parse(readFileSync(repositoryPath("package.json"), "utf8")) as { scripts: Record<string, string> }).scripts;

/** Script names after `npm run`, and npm's own short forms. */
const scripts = [...README.matchAll(/\bnpm (?:run (?:-s )?)?(start|test|[a-z]+(?::[a-z]+)*)\b/g)]
  .map(([, name]) => name as string)
  .filter((name) => name !== "ci" && name !== "run");

/** What stands behind `npm run -s fermata --`, or behind `fermata` in code. */
const commands = [...README.matchAll(/(?:npm run -s fermata --|`fermata|\$ fermata) ([^\n`]+)/g)].map(([, line]) => line as string);

describe("The README", () => {
  it("names only npm scripts that exist", () => {
    expect(scripts).to.include.members(["start", "test", "fermata"]);
    for (const name of scripts) expect(SCRIPTS, `npm run ${name}`).to.have.property(name);
  });

  it("shows only commands that exist, with options they take", async () => {
    expect(commands).to.not.be.empty;
    for (const line of commands) expect(await parsed(line), `fermata ${line}`).to.equal("understood");
  });
});

/** Parses a command line as a shell and the program do. Whatever it would open is not there, so nothing is carried out. */
async function parsed(line: string): Promise<string> {
  let stderr = "";
  const collect = new Writable({ write: (chunk: Buffer, _encoding, done) => ((stderr += chunk.toString()), done()) });
  const understood = (): Promise<never> => Promise.reject(new Error("understood"));
  const host: CliHost = {
    version: "0",
    stdout: new Writable({ write: (_chunk, _encoding, done) => done() }),
    stderr: collect,
    open: understood,
    run: understood,
    migrate: understood,
    doctor: understood,
  };
  const words = [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");
  const code = await runCli(words, host, () => false);
  return code === 0 ? "understood" : stderr.trim();
}
