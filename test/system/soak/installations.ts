import { join } from "node:path";
import { dataOf } from "../../support/api-client.js";
import { Receiver } from "../../support/crashes/receiver.js";
import type { Environment, FermataProcess, Sandbox } from "../../support/process.js";
import { openQueueSpace } from "../../support/rabbitmq.js";
import { Probe, probed } from "../../support/soak/probe.js";
import { mysqlTables, sqliteTables, type Tables } from "../../support/soak/tables.js";
import { httpModelPlugin, replicatePlugin } from "../../support/vendor/index.js";
import { Installation } from "../waste/installation.js";

/** Processes under load, and what is sampled of them. */
export interface SoakedInstallation {
  readonly title: string;
  readonly installation: Installation;
  readonly processes: readonly SoakedProcess[];
  readonly tables: Tables;
  /** The folder that its processes have for temporary files. */
  readonly temporary: string;
  /** Messages in the queues of the broker; null without one. */
  queued: (() => Promise<number>) | null;
  close(): Promise<void>;
}

export interface SoakedProcess {
  readonly name: string;
  readonly process: FermataProcess;
  readonly probe: Probe;
}

const RENDERS = { slots: 8, renderMs: 1_000, isIdempotent: true } as const;
const PROVIDERS = ["http-model", "replicate"] as const;

/** Everything that has a life has a short one. */
const SETTINGS: Environment = {
  FERMATA_JOBS__DEADLINE_MINUTES: "1",
  FERMATA_IDEMPOTENCY__TTL_HOURS: "0.05",
  FERMATA_JOBS__LEASE_SECONDS: "30",
  FERMATA_JOBS__SWEEP_MS: "1000",
  FERMATA_STEM_SPLIT__PROVIDERS: "replicate",
  FERMATA_METRICS__PORT: "0",
};

const plugins = (url: string): Readonly<Record<string, object>> => ({
  "http-model": httpModelPlugin(url, { shape: "accepts", concurrency: 4, callbacks: true, idempotent: true }),
  replicate: replicatePlugin(url, { splits: true }),
});

/** `serve` and `work` on MySQL or MariaDB and RabbitMQ. */
export async function openOnServers(sandbox: Sandbox): Promise<SoakedInstallation> {
  const installation = await Installation.open(sandbox, { renders: RENDERS, plugins, storage: "mysql" });
  const queues = await openQueueSpace();
  const queued = (): Promise<number> =>
    queues.onServer(async (channel) => {
      const counts = PROVIDERS.map(async (id) => (await channel.checkQueue(queues.queueOf(id))).messageCount);
      return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
    });
  const title = "`serve` and `work` on MariaDB and RabbitMQ";
  const tables = mysqlTables(installation.databaseUrl);
  const clear = (): Promise<void> => queues.clear(...PROVIDERS);
  return opened({ title, sandbox, installation, tables, queued, clear }, ["serve", "work"], queues.url);
}

/** `start` on the embedded default. */
export async function openEmbedded(sandbox: Sandbox): Promise<SoakedInstallation> {
  const installation = await Installation.open(sandbox, { renders: RENDERS, plugins });
  const title = "`start` on SQLite, with the queue in memory";
  const tables = sqliteTables(join(installation.dataDir, "fermata.sqlite"));
  const clear = (): Promise<void> => Promise.resolve();
  return opened({ title, sandbox, installation, tables, queued: null, clear }, ["start"], "memory:");
}

interface Parts extends Pick<SoakedInstallation, "title" | "installation" | "tables" | "queued"> {
  readonly sandbox: Sandbox;
  clear(): Promise<void>;
}

async function opened(
  { sandbox, installation, clear, ...rest }: Parts,
  modes: readonly ("start" | "serve" | "work")[],
  queueUrl: string,
): Promise<SoakedInstallation> {
  const temporary = await sandbox.dataDir();
  const receiver = await Receiver.open();
  const processes: SoakedProcess[] = [];
  for (const mode of modes) {
    const file = join(await sandbox.dataDir(), mode);
    const env = { ...SETTINGS, ...probed(file), TMPDIR: temporary, FERMATA_QUEUE__URL: queueUrl };
    const process = await (mode === "work" ? installation.work(env) : installation.serve(mode, env));
    processes.push({ name: mode, process, probe: new Probe(process, file) });
  }
  const options = { headers: { "Content-Type": "application/json" }, body: { url: receiver.url } };
  dataOf(await installation.api.send("POST", "/api/v1/webhook-endpoints", options));
  const close = async (): Promise<void> => {
    await installation.close();
    receiver.close();
    await clear();
  };
  return { ...rest, installation, processes, temporary, close };
}
