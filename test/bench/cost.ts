import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Connection, createConnection, type RowDataPacket } from "mysql2/promise";
import { ApiClient, dataOf } from "../support/api-client.js";
import { query } from "../support/mysql-server.js";
import type { Bench, Figure } from "./figures.js";
import { MODEL } from "./installation.js";
import { makeMysqlInstallation, type MysqlInstallation } from "./mysql-installation.js";
import type { CostOfWork } from "./servers/cost-worker.js";
import { type Server, startServer } from "./servers/start.js";

/** Of which nothing is derived, so that what processes do without jobs is little of what is measured. */
const JOBS = Number(process.env["COST_JOBS"] ?? 1_000);
const SONGS = 10;
const SONG_SECONDS = Number(process.env["COST_SECONDS"] ?? 180);
const CALLERS = 8;
/** Requests for the state of a generation, of a caller without webhooks. */
const READS = 5;
const WATCH_MS = 100;
/** What processes do without jobs is measured before, and left out. */
const IDLE_MS = 10_000;

/** What one generation takes of everything that an operator pays for. */
export const cost: Bench = {
  name: "cost",
  compares: `what ${JOBS} generations and ${SONGS} songs of ${SONG_SECONDS} s at a provider elsewhere take, per 1,000`,
  async run() {
    const dataDir = await mkdtemp(join(tmpdir(), "fermata-bench-"));
    const installation = await makeMysqlInstallation(dataDir, { accounts: CALLERS, generations: 0 });
    const server = await startServer("fermata", [dataDir, installation.storageUrl]);
    try {
      const figures = await ofGenerations(dataDir, installation, server);
      return [...figures, ...(await ofSongs(dataDir, installation, server))];
    } finally {
      await server.stop();
      await installation.close();
      await rm(dataDir, { recursive: true, force: true });
    }
  },
};

async function ofGenerations(dataDir: string, installation: MysqlInstallation, server: Server): Promise<Figure[]> {
  const { storageUrl, databaseCpuMs } = installation;
  const worker = await startWorker(dataDir, storageUrl, 0);
  const rows = await rowsOf(storageUrl);
  const used = async (): Promise<readonly number[]> => [
    performance.now(),
    await server.cpuMs(),
    await databaseCpuMs(),
    await redoBytes(storageUrl),
  ];
  const atFirst = await used();
  await sleep(IDLE_MS);
  const before = await used();
  await generate(installation, server.url, JOBS);
  const after = await used();
  const { cpuMs } = await stopWorker(worker);
  const rest = ratesBetween(atFirst, before);
  const taken = ratesBetween(before, after).map((rate, index) => rate - (rest[index] ?? 0));
  const [ofServe = 0, ofDatabase = 0, redo = 0] = taken.map((rate) => rate * ((after[0] ?? 0) - (before[0] ?? 0)));
  const added = [...(await rowsOf(storageUrl))].map(([name, count]) => [name, count - (rows.get(name) ?? 0)] as const);
  return [
    figure("CPU of serve", ofServe / 1_000 / JOBS, "s"),
    figure("CPU of MySQL", ofDatabase / 1_000 / JOBS, "s"),
    figure("CPU of work, nothing derived", cpuMs / 1_000 / JOBS, "s"),
    figure("redo log written", redo / 2 ** 20 / JOBS, "MiB"),
    ...added.filter(([, count]) => count > 0).map(([name, count]) => figure(`rows of ${name}`, count / JOBS, "rows")),
  ];
}

async function ofSongs(dataDir: string, installation: MysqlInstallation, { url }: Server): Promise<Figure[]> {
  const folder = join(dataDir, "audio");
  const before = await bytesBelow(folder);
  const worker = await startWorker(dataDir, installation.storageUrl, SONG_SECONDS);
  await generate(installation, url, SONGS);
  const { cpuMs, songBytes } = await stopWorker(worker);
  const stored = (await bytesBelow(folder)) - before;
  return [
    figure("CPU of work, with waveform, preview and cover", cpuMs / 1_000 / SONGS, "s"),
    figure(`audio of ${(songBytes / 2 ** 20).toFixed(2)} MiB each`, stored / 2 ** 20 / SONGS, "MiB"),
  ];
}

/** @param amount of one generation */
function figure(name: string, amount: number, unit: string): Figure {
  return {
    ...{ name: `cost: ${name}, per 1,000 generations`, value: `${(amount * 1_000).toFixed(1)} ${unit}` },
    ...{ baseline: "", ratio: null, target: null },
  };
}

async function startWorker(dataDir: string, storageUrl: string, songSeconds: number): Promise<ChildProcess> {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js"; // from the sources under tsx, or compiled
  const args = [dataDir, storageUrl, String(songSeconds)];
  const worker = fork(new URL(`./servers/cost-worker.${extension}`, import.meta.url), args, {
    execArgv: process.execArgv,
  });
  await once(worker, "message");
  return worker;
}

async function stopWorker(worker: ChildProcess): Promise<CostOfWork> {
  worker.send("stop");
  return ((await once(worker, "message")) as [CostOfWork])[0];
}

/** What was used in each millisecond. */
function ratesBetween([from = 0, ...before]: readonly number[], [to = 0, ...after]: readonly number[]): number[] {
  return after.map((value, index) => (value - (before[index] ?? 0)) / (to - from));
}

/** Callers that wait for their generations, some at a time. */
async function generate({ holders, storageUrl }: MysqlInstallation, url: string, count: number): Promise<void> {
  const watching = await createConnection(storageUrl);
  let left = count;
  const caller = async ({ key }: { readonly key: string }): Promise<void> => {
    const api = new ApiClient(url, key);
    while (left-- > 0) {
      const body = { model_id: MODEL, prompt: "a slow ballad about the harbour at night, brushed drums, upright bass" };
      const response = await api.generate(body, { "Idempotency-Key": `generation ${left} of ${count}` });
      const { id } = dataOf<{ readonly id: string }>(response);
      await ended(watching, id);
      for (let reads = 0; reads < READS; reads++) await api.get(`/api/v1/generations/${id}`);
    }
  };
  await Promise.all(holders.map(caller));
  await watching.end();
}

/** Looked for in the storage, so that a busy machine does not make more requests. */
async function ended(storage: Connection, id: string): Promise<void> {
  for (;;) {
    const [[row]] = await storage.query<RowDataPacket[]>("SELECT status FROM fermata_jobs WHERE id = ?", [id]);
    if (row?.["status"] === "completed") return;
    if (row?.["status"] === "failed") throw new Error(`The generation ${id} has failed.`);
    await sleep(WATCH_MS);
  }
}

async function rowsOf(storageUrl: string): Promise<Map<string, number>> {
  const rows = new Map<string, number>();
  for (const table of await query(storageUrl, "SHOW TABLES")) {
    const name = String(Object.values(table)[0]);
    const [row] = await query<{ readonly total: number }>(storageUrl, `SELECT COUNT(*) AS total FROM ${name}`);
    rows.set(name, row?.total ?? 0);
  }
  return rows;
}

async function redoBytes(storageUrl: string): Promise<number> {
  const sql = "SHOW GLOBAL STATUS LIKE 'Innodb_os_log_written'";
  const [row] = await query<{ readonly Value: string }>(storageUrl, sql);
  return Number(row?.Value);
}

async function bytesBelow(folder: string): Promise<number> {
  const files = await readdir(folder, { recursive: true, withFileTypes: true });
  const sizes = files
    .filter((file) => file.isFile())
    .map(async (file) => (await stat(join(file.parentPath, file.name))).size);
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}
