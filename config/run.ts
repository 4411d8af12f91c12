import type { CliHost, RunMode, RunOptions } from "../adapters/cli/host.js";
import { runCli } from "../adapters/cli/program.js";
import type { Logger } from "../core/ports/logger.js";
import { operatorName } from "./actor.js";
import type { App, HeadlessApp } from "./app.js";
import { type DemoAccount, makeDemoAccount } from "./first-run.js";
import type { SettingsSources } from "./load.js";
import { SettingsError } from "./settings/issues.js";
import type { Settings } from "./settings.js";
import type { RenamedSetting } from "./settings/given-settings.js";
import { inviteTo, studioAt } from "./studio-link.js";
import { StopReport } from "./stop-report.js";
import { callerHost } from "./caller-host.js";
import { confirmOn } from "./confirm.js";
import { invocationIn } from "./invocation.js";
import { logStrayErrors } from "./stray-errors.js";
import { nextStopSignal, type SignalledProcess } from "./stop-signal.js";
import { packageRoot, packageVersion } from "./version.js";

/** The parts of the process that a run uses; a test gives its own. */
export type RunProcess = Pick<NodeJS.Process, "env" | "stdin" | "stdout" | "stderr" | "cwd"> & SignalledProcess;

/** Runs one command line. @returns the exit code */
export async function run(argv: readonly string[], process: RunProcess): Promise<number> {
  const renamed: RenamedSetting[] = [];
  const sources: SettingsSources = {
    env: process.env,
    cwd: process.cwd(),
    isTerminal: process.stderr.isTTY === true,
    onRenamed: (setting) => renamed.push(setting),
  };
  const settings = async (): Promise<Settings> => (await import("./load.js")).loadSettings(sources);
  // Each command loads what it needs: `--help` no storage, and no command the HTTP server.
  const openLogger = async ({ logs }: Settings): Promise<Logger> => {
    const { WinstonLogger } = await import("../adapters/observability/winston-logger.js");
    const opened = WinstonLogger.open({ ...logs, stream: process.stderr });
    for (const { from, to, origin } of renamed.splice(0))
      opened.warn("A setting is given by its older name, which the next minor version refuses", { from, to, origin });
    return opened;
  };
  const host: CliHost = {
    version: packageVersion(),
    invocation: invocationIn(packageRoot()),
    root: packageRoot(),
    stdout: process.stdout,
    stderr: process.stderr,
    confirm: confirmOn(process),
    caller: callerHost(process),
    open: async () => {
      const given = await settings();
      const { openOperatorApp } = await import("./operator-app.js");
      return openOperatorApp(given, await openLogger(given), operatorName(process.env));
    },
    showSettings: async () => (await import("./shown-settings.js")).showSettings(sources),
    checkSettings: async () => (await import("./shown-settings.js")).checkSettings(sources),
    catalogue: async () => (await import("./operator-catalogue.js")).readCatalogue(await settings()),
    run: async (mode, options) => {
      const given = await settings();
      const { runProcesses, startsProcesses } = await import("./processes.js");
      if (startsProcesses(mode, given)) return runProcesses(mode, given, await openLogger(given), process);
      return runUntilSignal(mode, options, given, await openLogger(given), process);
    },
    serveMcp: async (options) => (await import("./mcp.js")).serveMcp(options, process),
    migrate: async () => {
      const given = await settings();
      const { migrateStorage } = await import("./migrate.js");
      return migrateStorage(given, await openLogger(given));
    },
    doctor: async () => {
      const given = await settings();
      const { check } = await import("./doctor.js");
      // Errors meanwhile are among the results.
      return check(given, await openLogger({ ...given, logs: { ...given.logs, level: "error" } }));
    },
    builtInPlugins: async () => Object.keys((await import("./plugins.js")).BUILT_IN),
    checkAdapter: async (use, url, options) => {
      const { pluginsDir } = await settings();
      const { checkOneAdapter } = await import("./adapters/check-one.js");
      return checkOneAdapter({ use, url, options, cwd: process.cwd(), pluginsDir });
    },
    importPackage: async (use) => {
      const { pluginsDir } = await settings();
      return (await import("./provider-package.js")).importPackage(use, { cwd: process.cwd(), pluginsDir });
    },
    openLiveCheck: async (use, modelId) => {
      const given = await settings();
      return (await import("./live-check.js")).openLiveCheck(given, use, modelId, process);
    },
    writePackage: async (directory, files) =>
      (await import("./provider-package.js")).writePackage(directory, files, process.cwd()),
  };
  return runCli(argv, host, (error) => (error instanceof SettingsError ? error.lines : null));
}

async function runUntilSignal(
  mode: RunMode,
  options: RunOptions,
  settings: Settings,
  logger: Logger,
  process: RunProcess,
): Promise<boolean> {
  const signal = nextStopSignal(process, settings.jobs.drainSeconds * 1000, () =>
    logger.warn("The stop took too long and is ended by force; jobs that were at work are left to their leases"),
  );
  signal.again.addEventListener("abort", () => logger.info("Stopping at once: a second signal came"));
  const report = new StopReport(process.stderr, logger);
  const forgetStrayErrors = logStrayErrors(process, logger);
  let isFinished = false;
  try {
    const { compose, composeHeadless } = await import("./compose.js");
    const open = { logger, actor: operatorName(process.env) };
    const migrate = { migrate: mode === "start" };
    const server = mode === "work" ? null : await compose(settings, open, migrate);
    const app = server ?? (await composeHeadless(settings, open, migrate));
    try {
      const isTerminal = process.stdout.isTTY === true;
      process.stdout.write(
        server === null ? await beginWork(app, options) : await begin(mode, options, server, isTerminal),
      );
      app.logger.info("Stopping", { signal: await signal.received });
    } finally {
      await app.stop({
        now: signal.again,
        onWaiting(work, leftMs) {
          signal.limit(leftMs);
          report.waiting(work, leftMs);
        },
        onAbandoned: (work) => report.abandoned(work),
        onStopped: ({ abandoned, leftToLeases }) => (isFinished = abandoned.length + leftToLeases === 0),
      });
    }
    return isFinished;
  } finally {
    forgetStrayErrors();
    signal.forget();
  }
}

/** @returns what to print once the process is ready */
async function beginWork(app: HeadlessApp, { json }: RunOptions): Promise<string> {
  await app.listenForMetrics();
  await app.work();
  return json === true ? toDocument({ working: true }) : "working\n";
}

/** @returns what to print once the process is ready */
async function begin(mode: RunMode, { json }: RunOptions, app: App, isTerminal: boolean): Promise<string> {
  const isFirstRun = mode === "start" && app.settings.demo.enabled && (await app.isEmpty());
  if (mode !== "serve") await app.work();
  const { url } = await app.listen();
  const demo = isFirstRun ? await makeDemoAccount(app, url, isTerminal) : null;
  const studio = mode === "start" ? await studioAt(app, url, isTerminal) : null;
  if (json === true) return toDocument({ url, studio_url: studio, demo: demo === null ? null : presentDemo(demo) });
  const shown = studio === null || (demo === null && !isTerminal) ? "" : inviteTo(studio, invocationIn(packageRoot()));
  return `listening on ${url}\n${shown}${demo?.welcome ?? ""}`;
}

function presentDemo({ accountId, key, keyFile }: DemoAccount): object {
  return { id: accountId, ...(keyFile === null ? { key } : { key_file: keyFile }) };
}

function toDocument(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
