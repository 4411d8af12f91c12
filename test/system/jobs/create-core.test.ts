import { execFile } from "node:child_process";
import { rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { expect } from "chai";
import ts from "typescript";
import { type Core, createCore } from "../../../core/create-core.js";
import type { GenerationEvent } from "../../../core/generations/listening.js";
import { temporaryFolder } from "../../support/databases.js";
import { RecordingMetrics } from "../../support/doubles/recording-metrics.js";
import { type OpenedAdapters, openAdapters } from "../../support/own-adapters.js";
import { repositoryPath } from "../../support/repository.js";
import { programsIn } from "../../support/readme-programs.js";

const RUNS_SOURCES = import.meta.url.endsWith(".ts");
const run = promisify(execFile);

describe("createCore", () => {
  let folder: string;
  let opened: OpenedAdapters;

  beforeEach(async () => {
    folder = await temporaryFolder();
    opened = await openAdapters(folder);
  });

  afterEach(async () => {
    await opened.close();
    await rm(folder, { recursive: true });
  });

  it("creates a complete core of ports and options: an account pays for a generation and plays it", async () => {
    const metrics = new RecordingMetrics();
    const core = createCore({ ...opened.ports, metrics }, opened.options);
    const account = await core.accounts.create({ name: "alice", tier: "pro", acceptTerms: true });
    await core.credits.grant(account.id, 100, { bucket: "pack" });
    const ended = new Promise<GenerationEvent>((resolve) => core.events.on("generation.completed", resolve));
    const workers = core.createWorkers([opened.provider]);
    await workers.start();
    try {
      const model = opened.options.providers[0]?.models[0]?.id ?? "";
      const job = await core.operateGenerations.create(account.id, { modelId: model, prompt: "slow sad piano" });
      expect((await ended).generation).to.include({ id: job.id, status: "completed" });
      expect(metrics.counted).to.deep.include(["job", "completed"]);
      const { tracks } = await core.library.read.search(account.id, { q: "rain" });
      expect(tracks.map(({ title }) => title)).to.deep.equal(["Rain on a tin roof"]);
      expect((await core.credits.balance(account.id)).spent)
        .to.equal(job.creditsCharged)
        .and.above(0);
      const [record] = await core.audit.list({ limit: 1 });
      expect(record).to.include({ actor: "harness", action: "generations.create" });
    } finally {
      await workers.stop(5_000);
      await core.events.stop();
      await core.api.requests.close(0);
    }
  });

  it("refuses an actor without a name", () => {
    const create = (): Core => createCore(opened.ports, { ...opened.options, actor: "" });
    expect(create).to.throw("An actor's name has 1 to 100 characters.");
  });

  it("runs as the README says, in a process of its own", async () => {
    const programs = programsIn("core/README.md", "fermata-music");
    const program = programs.find((text) => text.includes("./own-adapters.js")) ?? "";
    const extension = RUNS_SOURCES ? "ts" : "js";
    const module = (path: string): string => `"${new URL(`${path}.${extension}`, import.meta.url).href}"`;
    const code = program
      .replace('"fermata-music"', module("../../../config/index"))
      .replace('"./own-adapters.js"', module("../../support/own-adapters"));
    const { target, module: kind } = { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext };
    const file = join(folder, "program.mjs");
    await writeFile(file, ts.transpileModule(code, { compilerOptions: { target, module: kind } }).outputText);
    const own = await temporaryFolder();
    const loader = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;
    const { stdout, stderr } = await run(process.execPath, [...(RUNS_SOURCES ? ["--import", loader] : []), file], {
      cwd: own,
      env: { ...process.env, TSX_TSCONFIG_PATH: repositoryPath("tsconfig.json") },
    });
    await rm(own, { recursive: true });
    expect([stdout, stderr]).to.deep.equal(["completed [ 'Rain on a tin roof' ]\n", ""]);
  });
});
