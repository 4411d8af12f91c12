/** Runs the tests of a mutant for StrykerJS, whose own runner does not know this version of mocha. */
import { INSTRUMENTER_CONSTANTS, type InstrumenterContext, type StrykerOptions } from "@stryker-mutator/api/core";
import { commonTokens, declareClassPlugin, PluginKind, tokens } from "@stryker-mutator/api/plugin";
import {
  determineHitLimitReached,
  type DryRunOptions,
  type DryRunResult,
  DryRunStatus,
  type MutantRunOptions,
  type MutantRunResult,
  type TestResult,
  type TestRunner,
  type TestRunnerCapabilities,
  TestStatus,
  toMutantRunResult,
} from "@stryker-mutator/api/test-runner";
import Mocha from "mocha";
import { readdirSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

/** A test that a mutant keeps waiting has failed. */
const TEST_MS = 20_000;

/** The members of the options that are of this runner alone. */
export interface RunnerOptions {
  readonly unitTests: {
    /** Files of tests, and folders: below them, every `*.test.ts` is run. */
    readonly places: readonly string[];
    /** But not these, named without their ending: what takes long, and what the others should find alone. */
    readonly without: readonly string[];
    readonly setup: string;
  };
}

class SilentReporter extends Mocha.reporters.Base {}

class UnitTestRunner implements TestRunner {
  static inject = tokens(commonTokens.options);
  private readonly context: InstrumenterContext;
  private readonly mocha = new Mocha({ timeout: TEST_MS, reporter: SilentReporter });
  private isLoaded = false;

  constructor(private readonly options: StrykerOptions) {
    const shared = globalThis as { [INSTRUMENTER_CONSTANTS.NAMESPACE]?: InstrumenterContext };
    this.context = shared[INSTRUMENTER_CONSTANTS.NAMESPACE] ??= {};
  }

  /** Modules that are imported stay as they are. */
  capabilities(): TestRunnerCapabilities {
    return { reloadEnvironment: false };
  }

  async init(): Promise<void> {
    const { places, without, setup } = (this.options as StrykerOptions & RunnerOptions).unitTests;
    const { mocha, context } = this;
    const { mochaHooks } = (await import(pathToFileURL(resolve(setup)).href)) as { mochaHooks: Mocha.RootHookObject };
    mocha.rootHooks(mochaHooks);
    mocha.cleanReferencesAfterRun(false);
    const files = [...new Set(places.flatMap(testsAt))];
    for (const file of files) if (!without.includes(basename(file, ".test.ts"))) mocha.addFile(file);
    mocha.suite.beforeEach(function () {
      context.currentTestId = this.currentTest?.fullTitle() ?? "";
    });
  }

  async dryRun({ coverageAnalysis }: DryRunOptions): Promise<DryRunResult> {
    await this.load(undefined);
    const result = await this.run(undefined, false);
    if (result.status !== DryRunStatus.Complete || coverageAnalysis === "off") return result;
    const { mutantCoverage } = this.context;
    return mutantCoverage === undefined ? result : { ...result, mutantCoverage };
  }

  async mutantRun(options: MutantRunOptions): Promise<MutantRunResult> {
    const { activeMutant, testFilter, hitLimit, mutantActivation, disableBail } = options;
    const { context, mocha } = this;
    context.hitLimit = hitLimit;
    context.hitCount = hitLimit === undefined ? undefined : 0;
    mocha.grep(testFilter === undefined ? /^/ : new RegExp(testFilter.map((id) => `^${escaped(id)}$`).join("|")));
    await this.load(mutantActivation === "static" ? activeMutant.id : undefined);
    return toMutantRunResult(await this.run(activeMutant.id, !disableBail));
  }

  async dispose(): Promise<void> {
    this.mocha.dispose();
  }

  private async load(activeMutant: string | undefined): Promise<void> {
    this.context.activeMutant = activeMutant;
    if (this.isLoaded) return;
    await this.mocha.loadFilesAsync();
    this.isLoaded = true;
  }

  private async run(activeMutant: string | undefined, bail: boolean): Promise<DryRunResult> {
    const { context, mocha } = this;
    context.activeMutant = activeMutant;
    setBail(mocha.suite, bail);
    const tests: TestResult[] = [];
    await new Promise<void>((done) => {
      const runner = mocha.run(() => done());
      runner.on("pass", (test) => tests.push({ ...named(test), status: TestStatus.Success }));
      runner.on("fail", (test, error: unknown) => {
        const failed = test.ctx?.currentTest ?? test;
        const failureMessage = error instanceof Error ? error.message : String(error);
        tests.push({ ...named(failed), status: TestStatus.Failed, failureMessage });
      });
    });
    const limit = determineHitLimitReached(context.hitCount, context.hitLimit);
    return limit ?? { status: DryRunStatus.Complete, tests };
  }
}

function testsAt(place: string): string[] {
  return place.endsWith(".test.ts") ? [place] : testsBelow(place);
}

function testsBelow(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
  return names.filter((name) => name.endsWith(".test.ts")).map((name) => join(folder, name));
}

function named(test: Mocha.Runnable): { id: string; name: string; timeSpentMs: number } {
  const title = test.fullTitle();
  return { id: title, name: title, timeSpentMs: test.duration ?? 0 };
}

function setBail(suite: Mocha.Suite, bail: boolean): void {
  suite.bail(bail);
  for (const inner of suite.suites) setBail(inner, bail);
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&");
}

export const strykerPlugins = [declareClassPlugin(PluginKind.TestRunner, "unit-tests", UnitTestRunner)];
