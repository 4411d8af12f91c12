import { readFileSync } from "node:fs";
import { expect } from "chai";
import ts from "typescript";
import { repositoryPath } from "../support/repository.js";

/** Programs in Markdown: blocks of TypeScript that import the SDK by the name that packages use. */
function programsIn(path: string): string[] {
  const text = readFileSync(repositoryPath(path), "utf8");
  const blocks = [...text.matchAll(/^```ts\n([^]*?)^```$/gm)].map(([, code = ""]) => code);
  return blocks.filter((code) => code.includes('from "fermata/provider"'));
}

/** What the compiler says of a file with this text, under the options of this repository, a line each. */
function compilerErrors(code: string): string[] {
  const { config } = ts.readConfigFile(repositoryPath("tsconfig.json"), (path) => ts.sys.readFile(path)) as {
    config: object;
  };
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, repositoryPath("."));
  const file = repositoryPath("plugins/example-of-the-readme.ts");
  const source = code.replaceAll('"fermata/provider"', '"./sdk/index.js"');
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (path) => path === file || fileExists(path);
  host.readFile = (path) => (path === file ? source : readFile(path));
  host.getSourceFile = (path, languageVersion, ...more) =>
    path === file ? ts.createSourceFile(path, source, languageVersion) : getSourceFile(path, languageVersion, ...more);
  const program = ts.createProgram([file], { ...options, noEmit: true, incremental: false, composite: false }, host);
  const issues = ts.getPreEmitDiagnostics(program, program.getSourceFile(file));
  return issues.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
}

describe("The example in the README of plugins", function () {
  this.timeout(60_000);

  it("is there once, and compiles against the SDK", () => {
    const programs = programsIn("plugins/README.md");
    expect(programs).to.have.lengthOf(1);
    expect(programs.flatMap(compilerErrors)).to.deep.equal([]);
  });

  it("would be refused with a setting that is not declared", () => {
    const [program = ""] = programsIn("plugins/README.md");
    const [error = ""] = compilerErrors(program.replaceAll("settings.quality", "settings.qualitty"));
    expect(error).to.include("Property 'qualitty' does not exist");
  });
});
