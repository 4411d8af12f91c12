import { writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { type App, compose, loadSettings } from "../../../config/index.js";
import { CHAOS_SETTINGS } from "../chaos/chaos.js";
import { RecordingLogger } from "../doubles/recording-logger.js";
import { type Environment, FermataProcess, type Sandbox } from "../process.js";
import { openQueueSpace } from "../rabbitmq.js";
import type { CrashPlan } from "./boundary.js";
import { bundledModules } from "./bundle.js";
import { recordingFile } from "./checks.js";
import { type ChangeableDatabase, type Engine, openCrashDatabase } from "./database.js";
import { coverPainter } from "./cover.js";
import { crashProvider, FORGOTTEN, PROVIDER_ID } from "./provider.js";
import { Receiver } from "./receiver.js";

/** Where processes fail. */
export interface Stack {
  readonly engine: Engine;
  readonly withBroker: boolean;
  /** The provider finds no submission again, so that one whose response is lost is bought twice: a planted fault. */
  readonly isForgetful?: boolean;
}

/** What processes that fail share. */
export interface Installation {
  /** In this process, which does not fail. It neither works nor listens yet. */
  readonly app: App;
  readonly dataDir: string;
  readonly database: ChangeableDatabase;
  readonly receiver: Receiver;
  /** Starts a process that fails as planned. */
  start(plans: readonly CrashPlan[]): FermataProcess;
}

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
  // The lease of a delivery is four times as long: a killed sender's deliveries are due again in seconds.
  FERMATA_WEBHOOKS__TIMEOUT_SECONDS: "2",
  FERMATA_WEBHOOKS__SCHEDULE_SECONDS: "0.2,0.2,0.5,0.5,1,1,1,2,2,2",
  FERMATA_METRICS__ENABLED: "false",
  // It has processes of its own, and is no port that fails.
  FERMATA_AUDIO__ANALYSER: "none",
};

/** The process that does not fail leaves new work to the others for a while: what it takes, they cannot fail at. */
const SURVIVOR: Environment = { FERMATA_QUEUE__URL: "memory:", FERMATA_JOBS__SWEEP_MS: "300" };

/** The modules of a process that fails: of the sources one by one, of the build in a bundle. */
const IS_SOURCE = import.meta.url.endsWith(".ts");
const LOADER: Environment = IS_SOURCE
  ? { NODE_OPTIONS: `--import ${pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href}` }
  : {};

/** Opens an installation, and closes it after `run`. */
export async function withInstallation<T>(
  sandbox: Sandbox,
  { engine, withBroker, isForgetful = false }: Stack,
  run: (installation: Installation) => Promise<T>,
): Promise<T> {
  const dataDir = await sandbox.dataDir();
  if (isForgetful) await writeFile(`${recordingFile(dataDir)}${FORGOTTEN}`, "");
  const database = await openCrashDatabase(engine, dataDir);
  const queues = withBroker ? await openQueueSpace() : null;
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
  const settings = loadSettings({ env: { ...env, ...SURVIVOR }, cwd: dataDir, isTerminal: false });
  const plugins = [crashProvider((provider) => provider)];
  const app = await compose(settings, { logger: new RecordingLogger(), plugins, coverPainter }, { migrate: false });
  const modules = IS_SOURCE ? fileURLToPath(new URL(".", import.meta.url)) : await bundledModules();
  const modulePath = (name: string): string => join(modules, `${name}${IS_SOURCE ? ".ts" : ".js"}`);
  const adapters: Environment = {
    FERMATA_STORAGE__USE: modulePath("adapters/storage"),
    FERMATA_QUEUE__USE: modulePath("adapters/queue"),
    FERMATA_AUDIO__USE: modulePath("adapters/audio"),
  };
  const start = (plans: readonly CrashPlan[]): FermataProcess => {
    const own = { ...adapters, ...LOADER, FERMATA_TEST_CRASH: JSON.stringify(plans) };
    return new FermataProcess([], { ...env, ...own }, dataDir, modulePath("child"));
  };
  try {
    return await run({ app, dataDir, database, receiver, start });
  } finally {
    await app.stop();
    receiver.close();
    await Promise.all([database.close(), queues?.clear(PROVIDER_ID)]);
  }
}
