/**
 * Job queues of others, each on PostgreSQL as its documentation sets it up, with a task that does nothing. They come
 * from npm's registry into `node_modules/.cache` when the benchmark first runs: nothing else needs them.
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { createRequire } from "node:module";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { repositoryPath } from "../support/repository.js";
import { uniqueName } from "../support/services.js";

const PACKAGES = ["graphile-worker@0.16.6", "pg-boss@10.4.2", "pg@8.16.3"] as const;
const CACHE = repositoryPath("node_modules", ".cache", "fermata", "queues");
/** PostgreSQL, with the right to create databases. */
const SERVER = process.env["FERMATA_TEST_POSTGRES"] ?? "postgres://postgres@127.0.0.1:5432/postgres";
/** Jobs at once in graphile-worker: with 64 or 1,024 it is slower. */
const CONCURRENCY = 256;
/** In pg-boss, which settles a batch by one statement. */
const BATCH_JOBS = 2_000;
/** A connection pool of the size that Fermata has by default. */
const CONNECTIONS = 10;
const TASK = "bench";
const UNSETTLED = "SELECT COUNT(*) AS n FROM pgboss.job WHERE state < 'completed'";
const LOOK_EVERY_MS = 20;

/** A queue whose jobs are accepted, and worked on by one worker. */
export interface JobQueueSystem {
  readonly name: string;
  accept(): Promise<void>;
  /**
   * Starts a worker, waits until it has settled so many jobs, and stops it.
   *
   * @returns how long it took from the first claim to the last settlement, in milliseconds
   */
  settle(jobs: number): Promise<number>;
  close(): Promise<void>;
}

interface Pool {
  query(sql: string): Promise<{ readonly rows: readonly Readonly<Record<string, unknown>>[] }>;
  end(): Promise<void>;
}

interface GraphileWorker {
  makeWorkerUtils(options: { readonly pgPool: Pool }): Promise<{
    migrate(): Promise<void>;
    addJob(task: string, payload: object, options: { readonly jobKey: string }): Promise<unknown>;
    release(): Promise<void>;
  }>;
  run(options: {
    readonly pgPool: Pool;
    readonly concurrency: number;
    readonly noHandleSignals: boolean;
    readonly logger: unknown;
    readonly taskList: Readonly<Record<string, () => Promise<void>>>;
  }): Promise<{
    readonly events: { on(event: "job:success", listener: () => void): void };
    stop(): Promise<void>;
  }>;
  readonly Logger: new (factory: () => () => void) => unknown;
}

interface PgBoss {
  on(event: "error", listener: (error: Error) => void): void;
  start(): Promise<unknown>;
  stop(options: { readonly wait: boolean; readonly graceful: boolean }): Promise<void>;
  createQueue(name: string): Promise<void>;
  send(name: string, data: object): Promise<string | null>;
  work(name: string, options: object, handler: () => Promise<void>): Promise<string>;
}

type PgBossClass = new (options: { readonly connectionString: string; readonly max: number }) => PgBoss;

/** A job key each, as each generation has an idempotency key. */
export async function openGraphileWorker(): Promise<JobQueueSystem> {
  const { url, drop } = await createDatabase();
  const { makeWorkerUtils, run, Logger } = (await load("graphile-worker")) as GraphileWorker;
  const pgPool = await openPool(url);
  const utils = await makeWorkerUtils({ pgPool });
  await utils.migrate();
  let added = 0;
  return {
    name: "graphile-worker",
    async accept() {
      await utils.addJob(TASK, { prompt: "rain on a tin roof" }, { jobKey: `job ${++added}` });
    },
    async settle(jobs) {
      const ownPool = await openPool(url);
      const begunAt = performance.now();
      const runner = await run({
        pgPool: ownPool,
        concurrency: CONCURRENCY,
        noHandleSignals: true,
        logger: new Logger(() => () => undefined),
        taskList: { [TASK]: () => Promise.resolve() },
      });
      let left = jobs;
      await new Promise<void>((resolve) =>
        runner.events.on("job:success", () => (--left === 0 ? resolve() : undefined)),
      );
      const taken = performance.now() - begunAt;
      await runner.stop();
      await ownPool.end();
      return taken;
    },
    async close() {
      await utils.release();
      await pgPool.end();
      await drop();
    },
  };
}

export async function openPgBoss(): Promise<JobQueueSystem> {
  const { url, drop } = await createDatabase();
  const Boss = (await load("pg-boss")) as PgBossClass;
  const pool = await openPool(url);
  const open = async (): Promise<PgBoss> => {
    const boss = new Boss({ connectionString: url, max: CONNECTIONS });
    boss.on("error", (error) => console.error(error));
    await boss.start();
    return boss;
  };
  const accepting = await open();
  await accepting.createQueue(TASK);
  return {
    name: "pg-boss",
    async accept() {
      await accepting.send(TASK, { prompt: "rain on a tin roof" });
    },
    async settle() {
      const boss = await open();
      const begunAt = performance.now();
      // It asks for more at most twice a second: batches as large as one that asks more often would have.
      await boss.work(TASK, { batchSize: BATCH_JOBS, pollingIntervalSeconds: 0.5 }, () => Promise.resolve());
      await until(async () => (await pool.query(UNSETTLED)).rows[0]?.["n"] === "0");
      const taken = performance.now() - begunAt;
      await boss.stop({ wait: true, graceful: true });
      return taken;
    },
    async close() {
      await accepting.stop({ wait: true, graceful: true });
      await pool.end();
      await drop();
    },
  };
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await pause(LOOK_EVERY_MS);
}

async function createDatabase(): Promise<{ readonly url: string; drop(): Promise<void> }> {
  const name = uniqueName().replaceAll("-", "_");
  const onServer = async (sql: string): Promise<void> => {
    const pool = await openPool(SERVER);
    await pool.query(sql);
    await pool.end();
  };
  await onServer(`CREATE DATABASE ${name}`);
  const url = new URL(SERVER);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => onServer(`DROP DATABASE ${name}`) };
}

async function openPool(connectionString: string): Promise<Pool> {
  const { Pool } = (await load("pg")) as { readonly Pool: new (options: object) => Pool };
  return new Pool({ connectionString, max: CONNECTIONS });
}

async function load(name: string): Promise<unknown> {
  await (installed ??= install());
  return createRequire(`${CACHE}/`)(name);
}

let installed: Promise<void> | undefined;

async function install(): Promise<void> {
  if (PACKAGES.every((spec) => existsSync(`${CACHE}/node_modules/${spec.slice(0, spec.lastIndexOf("@"))}`))) return;
  await mkdir(CACHE, { recursive: true });
  await promisify(execFile)("npm", [
    "install",
    "--prefix",
    CACHE,
    "--no-audit",
    "--no-fund",
    "--save-exact",
    ...PACKAGES,
  ]);
}
