import { ApiClient } from "../support/api-client.js";
import { createMysqlDatabase } from "../support/mysql.js";
import { type Environment, eventually, Sandbox } from "../support/process.js";
import { type JobRow, readMysqlRows, readRows, type Rows } from "../support/chaos/rows.js";
import { below, type Bench, type Figure } from "./figures.js";

interface Tuning {
  readonly name: string;
  readonly leaseSeconds: number;
  readonly limitSeconds: number;
}

const TUNINGS: readonly Tuning[] = [
  { name: "default settings", leaseSeconds: 30, limitSeconds: 35 },
  { name: "leases of 10 s", leaseSeconds: 10, limitSeconds: 12 },
];

/** Longer than the bench takes. */
const CHUNK = { model_id: "synth/instrumental", prompt: "rain [[delay:300]]", duration: 5 };
const BOUND_MS = 60_000;

export const takeover: Bench = {
  name: "takeover",
  compares:
    "how long a job stands still when its worker is killed right after it has renewed its lease, with that lease",
  // Participants wait most of the time, so all of it runs at once.
  run: async () => (await Promise.all(TUNINGS.flatMap((tuning) => [onSqlite(tuning), onMysql(tuning)]))).flat(),
};

async function onSqlite(tuning: Tuning): Promise<Figure> {
  return measure("SQLite", tuning, (dataDir) => ({ settings: {}, rows: async () => readRows(dataDir) }));
}

async function onMysql(tuning: Tuning): Promise<Figure> {
  const { url, drop } = await createMysqlDatabase();
  try {
    return await measure("MySQL", tuning, () => ({
      settings: { FERMATA_STORAGE__URL: url },
      rows: () => readMysqlRows(url),
    }));
  } finally {
    await drop();
  }
}

type Storage = (dataDir: string) => { readonly settings: Environment; rows(): Promise<Rows> };

async function measure(
  engine: string,
  { name, leaseSeconds, limitSeconds }: Tuning,
  storage: Storage,
): Promise<Figure> {
  const sandbox = new Sandbox();
  try {
    const dataDir = await sandbox.dataDir();
    const { settings: own, rows } = storage(dataDir);
    const settings = { ...own, FERMATA_JOBS__LEASE_SECONDS: String(leaseSeconds), FERMATA_DEMO__ENABLED: "false" };
    const seconds = (await standstillMs(sandbox, dataDir, settings, async () => (await rows()).jobs[0])) / 1000;
    return {
      name: `takeover: after SIGKILL, ${name}, ${engine}`,
      value: `${seconds.toFixed(1)} s`,
      baseline: `${leaseSeconds} s (lease)`,
      ratio: seconds / leaseSeconds,
      target: below(seconds, limitSeconds, " s"),
    };
  } finally {
    await sandbox.clear();
  }
}

/** From the end of one worker to the claim by another, which polls all the time. */
async function standstillMs(
  sandbox: Sandbox,
  dataDir: string,
  settings: Environment,
  readJob: () => Promise<JobRow | undefined>,
): Promise<number> {
  await sandbox.json(["migrate"], dataDir, settings);
  const create = ["accounts", "create", "bench", "--tier", "pro", "--accept-terms", "--credits", "100"];
  const { id } = await sandbox.json<{ id: string }>(create, dataDir, settings);
  const { key } = await sandbox.json<{ key: string }>(["keys", "issue", id], dataDir, settings);
  const server = sandbox.call(["serve"], dataDir, settings);
  await new ApiClient(await server.listening(), key).generate(CHUNK);

  const lost = sandbox.spawn(["work"], dataDir, settings);
  await eventually("a submission", async () => (await readJob())?.phase === "submitting");
  await sandbox.spawn(["work"], dataDir, settings).line(/^working$/m);
  const before = await readJob();
  await eventually("a renewal", async () => (await readJob())?.due_at !== before?.due_at, BOUND_MS);
  const killedAt = performance.now();
  await lost.kill();
  await eventually("another owner", async () => (await readJob())?.lease_owner !== before?.lease_owner, BOUND_MS);
  return performance.now() - killedAt;
}
