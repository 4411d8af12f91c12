import type { CliHost, RunMode } from "../adapters/cli/host.js";
import { runCli } from "../adapters/cli/program.js";
import { presentCredits } from "../adapters/http/presenters/credits.js";
import { presentJob } from "../adapters/http/presenters/job.js";
import { presentModel } from "../adapters/http/presenters/model.js";
import type { App } from "./app.js";
import { compose } from "./compose.js";
import { examine } from "./doctor.js";
import { welcome } from "./first-run.js";
import { migrateStorage } from "./migrate.js";
import type { LoadedPlugin } from "./plugins.js";
import { loadSettings, SettingsError } from "./load.js";
import type { Settings } from "./settings.js";
import { packageVersion } from "./version.js";

/** The parts of the process that a run uses; a test gives its own. */
export type RunProcess = Pick<NodeJS.Process, "env" | "stdout" | "stderr" | "cwd" | "on" | "off">;

/** Longer than this no stop takes; what is still open then is left to the leases. */
const STOP_MAX_MS = 9_500;

/** Runs one command line. @returns the exit code */
export async function run(argv: readonly string[], process: RunProcess): Promise<number> {
  const settings = (): Settings =>
    loadSettings({ env: process.env, cwd: process.cwd(), isTerminal: process.stderr.isTTY === true });
  const host: CliHost = {
    version: packageVersion(),
    stdout: process.stdout,
    stderr: process.stderr,
    open: async () => {
      const app = await compose(settings(), {}, { migrate: false });
      const operator = { ...pick(app), plugins: app.plugins.map(report), close: () => app.stop() };
      const present = {
        credits: presentCredits,
        model: presentModel,
        job: (found: Parameters<typeof presentJob>[0]) => presentJob(found, app.audioUrls),
      };
      return { app: operator, present };
    },
    run: (mode) => runUntilSignal(mode, settings(), process),
    migrate: () => migrateStorage(settings()),
    doctor: () => examine(settings()),
  };
  return runCli(argv, host, (error) => error instanceof SettingsError);
}

async function runUntilSignal(mode: RunMode, settings: Settings, process: RunProcess): Promise<void> {
  const signal = nextSignal(process);
  try {
    const app = await compose(settings, {}, { migrate: mode === "start" });
    try {
      await begin(mode, app, process);
      app.logger.info("Stopping", { signal: await signal.received });
    } finally {
      await withinLimit(app);
    }
  } finally {
    signal.forget();
  }
}

async function begin(mode: RunMode, app: App, process: RunProcess): Promise<void> {
  const isFirstRun = mode === "start" && app.settings.demo.enabled && (await app.isEmpty());
  if (mode !== "serve") await app.work();
  if (mode === "work") {
    process.stdout.write("working\n");
    return;
  }
  const { url } = await app.listen();
  process.stdout.write(`listening on ${url}\n`);
  if (isFirstRun) process.stdout.write(await welcome(app, url));
}

/** The first signal asks to stop; a second one is left to Node, which ends the process at once. */
function nextSignal(process: RunProcess): { readonly received: Promise<string>; forget(): void } {
  let forget = (): void => undefined;
  const received = new Promise<string>((resolve) => {
    const onSignal = (name: string): void => {
      forget();
      resolve(name);
    };
    for (const name of ["SIGTERM", "SIGINT"]) process.on(name, onSignal);
    forget = () => {
      for (const name of ["SIGTERM", "SIGINT"]) process.off(name, onSignal);
    };
  });
  return { received, forget: () => forget() };
}

async function withinLimit(app: App): Promise<void> {
  const late = Symbol("late");
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<typeof late>((resolve) => {
    timer = setTimeout(() => resolve(late), STOP_MAX_MS);
  });
  const ended = await Promise.race([app.stop(), limit]);
  clearTimeout(timer);
  if (ended !== late) return;
  app.logger.warn("The stop took too long; leases take care of what was still running");
  // Whatever still holds the process open is given up: a stop ends within 10 s.
  globalThis.process.exit(0);
}

function pick({ accounts, credits, jobs, models }: App): Pick<App, "accounts" | "credits" | "jobs" | "models"> {
  return { accounts, credits, jobs, models };
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
