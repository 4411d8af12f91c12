import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";
import { type App, compose, loadSettings } from "../../../config/index.js";
import { CHAOS_SETTINGS } from "../chaos/chaos.js";
import { RecordingLogger } from "../doubles/recording-logger.js";
import { type Environment, eventually, FermataProcess, type Sandbox } from "../process.js";
import { openQueueSpace } from "../rabbitmq.js";
import { type CrashPlan, REACHED } from "./boundary.js";
import { leftToDo, recordingFile, violationsOf } from "./checks.js";
import { PatientClient } from "./client.js";
import { type CrashDatabase, type Engine, openCrashDatabase } from "./database.js";
import { crashProvider, PROVIDER_ID } from "./provider.js";
import { Receiver } from "./receiver.js";
import { Scenario } from "./scenario.js";

/** Where a run happens. */
export interface Stack {
  readonly engine: Engine;
  readonly withBroker: boolean;
}

export interface CrashResult {
  /** False: the process ended before it listened, and without its point: the machine was too busy for its start. */
  readonly isStarted: boolean;
  readonly isReached: boolean;
  /** What is wrong afterwards, a line each. */
  readonly violations: readonly string[];
  /** How often each point was reached, where the process lived to say it. */
  readonly counts: Readonly<Record<string, number>>;
  /** What the process logged. */
  readonly log: string;
}

/** Bounds for a busy machine; a run takes a few seconds. */
const START_MAX_MS = 90_000;
const SETTLE_MAX_MS = 60_000;

/** What a process of the sources needs. */
const LOADER: Environment = import.meta.url.endsWith(".ts")
  ? { NODE_OPTIONS: `--import ${pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href}` }
  : {};

const modulePath = (name: string): string =>
  fileURLToPath(new URL(`./${name}${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`, import.meta.url));

const SETTINGS: Environment = {
  ...CHAOS_SETTINGS,
  FERMATA_JOBS__LEASE_SECONDS: "1",
  FERMATA_JOBS__UNKNOWN_GRACE_SECONDS: "1",
  FERMATA_JOBS__CONFIRM_SECONDS: "1",
  FERMATA_JOBS__SHUTDOWN_GRACE_SECONDS: "0.1",
  FERMATA_JOBS__DRAIN_SECONDS: "1",
  FERMATA_HTTP__PORT: "0",
  FERMATA_PLUGINS__SYNTH__ENABLED: "false",
  FERMATA_STEM_SPLIT__PROVIDERS: PROVIDER_ID,
  FERMATA_VOCAL_REMOVAL__PROVIDERS: PROVIDER_ID,
  FERMATA_WEBHOOKS__ALLOW_NETWORKS: "127.0.0.0/8",
  FERMATA_WEBHOOKS__ALLOW_HTTP: "true",
  FERMATA_WEBHOOKS__SCHEDULE_SECONDS: "0.2,0.2,0.5,0.5,1,1,1,2,2,2",
  FERMATA_METRICS__ENABLED: "false",
};

/**
 * One process fails at one point while a client uses it; another one, which is this process, goes on with its work.
 *
 * @param plan null: nothing fails
 */
export async function runCrash(sandbox: Sandbox, stack: Stack, plan: CrashPlan | null): Promise<CrashResult> {
  const dataDir = await sandbox.dataDir();
  const database = await openCrashDatabase(stack.engine, dataDir);
  const queues = stack.withBroker ? await openQueueSpace() : null;
  const receiver = await Receiver.open();
  const env = {
    ...SETTINGS,
    FERMATA_DATA_DIR: dataDir,
    FERMATA_STORAGE__URL: database.url,
    FERMATA_QUEUE__URL: queues?.url ?? "memory:",
    FERMATA_AUDIO__URL: `file:${dataDir}/audio`,
    FERMATA_PLUGINS__RECORDING_CRASH__ENABLED: "true",
    FERMATA_PLUGINS__RECORDING_CRASH__FILE: recordingFile(dataDir),
  };
  const settings = loadSettings({ env, cwd: dataDir, isTerminal: false });
  const plugins = [crashProvider((provider) => provider)];
  const app = await compose(settings, { logger: new RecordingLogger(), plugins }, { migrate: false });
  try {
    return await new CrashRun({ app, dataDir, database, receiver, env }, plan).run();
  } finally {
    await app.stop();
    receiver.close();
    await Promise.all([database.close(), queues?.clear(PROVIDER_ID)]);
  }
}

interface Opened {
  /** The process that goes on. */
  readonly app: App;
  readonly dataDir: string;
  readonly database: CrashDatabase;
  readonly receiver: Receiver;
  readonly env: Environment;
}

class CrashRun {
  private readonly child: FermataProcess;
  private isReached = false;

  constructor(
    private readonly opened: Opened,
    private readonly plan: CrashPlan | null,
  ) {
    const adapters = Object.fromEntries(
      ["storage", "queue", "audio"].map((port) => [
        `FERMATA_${port.toUpperCase()}__USE`,
        modulePath(`adapters/${port}`),
      ]),
    );
    const env = { ...opened.env, ...adapters, ...LOADER, FERMATA_TEST_CRASH: JSON.stringify(plan) };
    this.child = new FermataProcess([], env, opened.dataDir, modulePath("child"));
  }

  async run(): Promise<CrashResult> {
    const { app, database, dataDir, receiver } = this.opened;
    const { id } = await app.accounts.create({ name: "Caller", tier: "pro", credits: 1_000, acceptTerms: true });
    const client = new PatientClient((await app.accounts.issueKey(id, {})).token);
    const scenario = new Scenario(client, receiver.url);
    const violations: string[] = [];
    try {
      const goesOn = this.takeOver(client);
      await scenario.run();
      await this.settled();
      await this.endChild(violations);
      await goesOn;
      await this.settled();
      await scenario.readAgain().catch((error: Error) => violations.push(error.message));
    } catch (error) {
      violations.push(error instanceof Error ? error.message : String(error));
    } finally {
      await this.child.kill();
    }
    const { history } = scenario;
    violations.push(...client.undecided, ...(await violationsOf({ database, dataDir, history, receiver })));
    const { violations: ofLedger } = await app.credits.verify({ full: true });
    violations.push(...ofLedger.map((violation) => JSON.stringify(violation)));
    const [, counts = "{}"] = /^points (.+)$/m.exec(this.child.stdout) ?? [];
    return {
      isStarted: this.isReached || this.child.stdout.includes("listening"),
      isReached: this.isReached,
      violations,
      counts: JSON.parse(counts) as CrashResult["counts"],
      log: this.child.stderr,
    };
  }

  /** Starts this process's work once the other one has failed, or has ended. */
  private async takeOver(client: PatientClient): Promise<void> {
    const { app, child } = { ...this.opened, child: this.child };
    const listening = child.listening(START_MAX_MS).then(
      (url) => {
        client.use(url);
        return url;
      },
      () => null,
    );
    const reached = child.line(new RegExp(`^${REACHED}$`, "m"), 2 * START_MAX_MS).then(
      () => true,
      () => false,
    );
    this.isReached = await reached;
    if (this.plan?.fault !== "drop" && child.stdout.includes("listening")) client.leave((await listening) ?? "");
    await app.work();
    client.use((await app.listen()).url);
  }

  private async settled(): Promise<void> {
    const { database } = this.opened;
    await eventually("everything has ended", async () => (await leftToDo(database)).length === 0, SETTLE_MAX_MS).catch(
      async (error: Error) => {
        throw new Error(`${error.message}: ${(await leftToDo(database)).join(", ")}`);
      },
    );
  }

  /** A process that lives is asked to stop once it is awake; it has nothing left to do. */
  private async endChild(violations: string[]): Promise<void> {
    const { child } = this;
    await eventually("the process is awake", async () => child.hasExited || !(await isStopped(child.pid)));
    // A point of the stop itself ends it as well.
    if (!child.hasExited) await child.stop();
    const { code, signal } = await child.exited;
    // A start that was held up for so long may find no connection in time: then it ends, to be started again.
    const mayEnd = signal === "SIGKILL" || !child.stdout.includes("listening");
    if (!mayEnd && code !== 0) violations.push(`the process ended with ${code}: ${child.stderr.slice(-2_000)}`);
  }
}

async function isStopped(pid: number | undefined): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return /\) T /.test(stat);
}
