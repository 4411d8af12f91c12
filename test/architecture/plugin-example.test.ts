import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect } from "chai";
import ts from "typescript";
import type { Accepted, ProviderDefinition } from "../../core/ports/music-provider.js";
import { checkProvider } from "../../core/providers/check-provider.js";
import { aMusicRequest, FakeApi, json, providerHost, settingsOf } from "../support/provider-kit/index.js";
import { programsIn } from "../support/readme-programs.js";
import { repositoryPath } from "../support/repository.js";

/** The compiler's errors for a file with this text, under the options of this repository, a line each. */
function compilerErrors(code: string): string[] {
  const { config } = ts.readConfigFile(repositoryPath("tsconfig.json"), (path) => ts.sys.readFile(path)) as {
    config: object;
  };
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, repositoryPath("."));
  const file = repositoryPath("plugins/example-of-the-readme.ts");
  const source = code.replaceAll('"fermata-music/provider"', '"./sdk/index.js"');
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

/** The default export of a program, with the SDK of this build. */
async function exportedBy(code: string): Promise<ProviderDefinition> {
  const sdk = new URL(`../../plugins/sdk/index${extname(import.meta.url)}`, import.meta.url).href;
  const { outputText } = ts.transpileModule(code.replaceAll("fermata-music/provider", sdk), {
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
  });
  const folder = await mkdtemp(join(tmpdir(), "fermata-example-"));
  try {
    await writeFile(join(folder, "index.mjs"), outputText);
    const module = (await import(pathToFileURL(join(folder, "index.mjs")).href)) as { default: ProviderDefinition };
    return module.default;
  } finally {
    await rm(folder, { recursive: true });
  }
}

describe("The example in the README of plugins", function () {
  this.timeout(60_000);

  it("exists once, and compiles against the SDK", () => {
    const programs = programsIn("plugins/README.md", "fermata-music/provider");
    expect(programs).to.have.lengthOf(1);
    expect(programs.flatMap(compilerErrors)).to.deep.equal([]);
  });

  it("is refused with an undeclared setting", () => {
    const [program = ""] = programsIn("plugins/README.md", "fermata-music/provider");
    const [error = ""] = compilerErrors(program.replaceAll("settings.quality", "settings.qualitty"));
    expect(error).to.include("Property 'qualitty' does not exist");
  });

  it("passes the check of plugins, and generates music", async () => {
    const [program = ""] = programsIn("plugins/README.md", "fermata-music/provider");
    const definition = await exportedBy(program);
    expect(await checkProvider(definition)).to.deep.include({ id: "nightingale", issues: [], notes: [] });
    const fake = await FakeApi.open();
    try {
      fake.on("POST", "/v1/music", json({ id: "t1" }));
      fake.once("GET", "/v1/music/t1", json({ status: "running" }));
      fake.on("GET", "/v1/music/t1", json({ status: "done", url: `${fake.url}/t1.mp3` }));
      const settings = settingsOf(definition, { apiKey: "key-of-the-test", baseUrl: `${fake.url}/v1` });
      const provider = definition.create(providerHost({ settings, models: definition.models }));
      const [model] = definition.models;
      if (model === undefined) throw new Error("The example has no model.");
      const context = { signal: new AbortController().signal };
      const request = aMusicRequest(model, { prompt: "rain", attemptId: "att_1" });
      const { handle, nextPollMs } = (await provider.submit(request, context)) as Accepted;
      expect([handle, nextPollMs]).to.deep.equal([{ version: 1, data: { id: "t1" } }, 5_000]);
      expect(fake.requests[0]?.json).to.deep.equal({ prompt: "rain", quality: "high", reference: "att_1" });
      expect(fake.requests[0]?.headers["authorization"]).to.equal("Bearer key-of-the-test");
      expect((await provider.poll?.(handle, context))?.state).to.equal("running");
      const completed = await provider.poll?.(handle, context);
      expect(completed).to.have.nested.property("tracks[0].assets[0].source.url", `${fake.url}/t1.mp3`);
    } finally {
      await fake.close();
    }
  });
});
