import type { CliHost, OperatorApp, RunMode, RunOptions } from "../adapters/cli/host.js";
import { runCli } from "../adapters/cli/program.js";
import { presentCredits } from "../adapters/http/presenters/credits.js";
import { presentJob } from "../adapters/http/presenters/job.js";
import { presentModel } from "../adapters/http/presenters/model.js";
import { presentPlaylist } from "../adapters/http/presenters/playlist.js";
import { presentSingleTrack, presentTrack } from "../adapters/http/presenters/track.js";
import { presentWebhookEndpoint } from "../adapters/http/presenters/webhook-endpoint.js";
import { WinstonLogger } from "../adapters/observability/winston-logger.js";
import type { Logger } from "../core/ports/logger.js";
import { operatorName } from "./actor.js";
import type { App } from "./app.js";
import { compose } from "./compose.js";
import { type DemoAccount, makeDemoAccount } from "./first-run.js";
import { openLiveCheck } from "./live-check.js";
import { migrateStorage } from "./migrate.js";
import type { LoadedPlugin } from "./plugins.js";
import { importPlugin, writePackage } from "./provider-package.js";
import { loadSettings, SettingsError } from "./load.js";
import type { Settings } from "./settings.js";
import type { RenamedSetting } from "./settings/given-settings.js";
import { StopReport } from "./stop-report.js";
import { confirmOn } from "./confirm.js";
import { nextStopSignal, type SignalledProcess } from "./stop-signal.js";
import { packageRoot, packageVersion } from "./version.js";

/** The parts of the process that a run uses; a test gives its own. */
export type RunProcess = Pick<NodeJS.Process, "env" | "stdin" | "stdout" | "stderr" | "cwd"> & SignalledProcess;

/** Runs one command line. @returns the exit code */
export async function run(argv: readonly string[], process: RunProcess): Promise<number> {
  const renamed: RenamedSetting[] = [];
  const settings = (): Settings =>
    loadSettings({
      env: process.env,
      cwd: process.cwd(),
      isTerminal: process.stderr.isTTY === true,
      onRenamed: (setting) => renamed.push(setting),
    });
  const logger = ({ logs }: Settings): Logger => {
    const opened = WinstonLogger.open({ ...logs, stream: process.stderr });
    for (const { from, to, origin } of renamed.splice(0))
      opened.warn("A setting is given by its older name, which the next minor version refuses", { from, to, origin });
    return opened;
  };
  const host: CliHost = {
    version: packageVersion(),
    root: packageRoot(),
    stdout: process.stdout,
    stderr: process.stderr,
    confirm: confirmOn(process),
    open: async () => {
      const given = settings();
      const actor = operatorName(process.env);
      const app = await compose(given, { logger: logger(given), actor }, { migrate: false });
      const operator: OperatorApp = {
        ...app,
        generations: app.operateGenerations,
        now: () => app.clock.now(),
        plugins: app.plugins.map(report),
        close: () => app.stop(),
      };
      const present = {
        credits: presentCredits,
        model: presentModel,
        job: (found: Parameters<typeof presentJob>[0]) => presentJob(found, app.audioUrls),
        webhookEndpoint: presentWebhookEndpoint,
        playlist: (found: Parameters<typeof presentPlaylist>[0]) => presentPlaylist(found, app),
        track: (track: Parameters<typeof presentTrack>[0]) => presentTrack(track, app),
        singleTrack: (found: Parameters<typeof presentSingleTrack>[0]) => presentSingleTrack(found, app),
        shareUrl: (track: Parameters<typeof app.shareUrls.urlOf>[0]) => app.shareUrls.urlOf(track),
      };
      return { app: operator, present };
    },
    run: async (mode, options) => {
      const given = settings();
      return runUntilSignal(mode, options, given, logger(given), process);
    },
    migrate: async () => {
      const given = settings();
      return migrateStorage(given, logger(given));
    },
    doctor: async () => {
      const given = settings();
      // Loaded when asked for: a server that starts has no use for it.
      const { check } = await import("./doctor.js");
      // Errors meanwhile are among the results.
      return check(given, logger({ ...given, logs: { ...given.logs, level: "error" } }));
    },
    importPlugin: (use) => importPlugin(use, process.cwd()),
    openLiveCheck: async (use, modelId) => openLiveCheck(settings(), use, modelId, process),
    writePackage: (directory, files) => writePackage(directory, files, process.cwd()),
  };
  return runCli(argv, host, (error) => error instanceof SettingsError);
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
  let isFinished = false;
  try {
    const app = await compose(settings, { logger, actor: operatorName(process.env) }, { migrate: mode === "start" });
    try {
      process.stdout.write(await begin(mode, options, app, process.stdout.isTTY === true));
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
    signal.forget();
  }
}

/** @returns what to print once the process is ready */
async function begin(mode: RunMode, { json }: RunOptions, app: App, isTerminal: boolean): Promise<string> {
  const isFirstRun = mode === "start" && app.settings.demo.enabled && (await app.isEmpty());
  if (mode !== "serve") await app.work();
  if (mode === "work") return json === true ? toDocument({ working: true }) : "working\n";
  const { url } = await app.listen();
  const demo = isFirstRun ? await makeDemoAccount(app, url, isTerminal) : null;
  if (json === true) return toDocument({ url, demo: demo === null ? null : presentDemo(demo) });
  return `listening on ${url}\n${demo?.welcome ?? ""}`;
}

function presentDemo({ accountId, key, keyFile }: DemoAccount): object {
  return { id: accountId, ...(keyFile === null ? { key } : { key_file: keyFile }) };
}

function toDocument(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

function report({ definition, enabled, source }: LoadedPlugin): {
  readonly id: string;
  readonly label: string;
  readonly enabled: boolean;
  readonly source: string;
  readonly port_version: number;
  readonly models: readonly string[];
} {
  const { id, label, portVersion, models } = definition;
  return { id, label, enabled, source, port_version: portVersion, models: models.map((model) => model.id) };
}
