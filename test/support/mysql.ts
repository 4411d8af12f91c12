import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, rmSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { createConnection, type Connection } from "mysql2/promise";
import { createStores, type KnexDatabase, openDatabase } from "../../adapters/storage/knex/index.js";
import { freePort, installPackage } from "./services.js";
import { SILENT, type StorageKind, type StorageUnderTest, TEST_PORTS, underTest } from "./databases.js";

const run = promisify(execFile);

/** Where the suites look for a server; `FERMATA_TEST_MYSQL` names another one, with rights to make databases. */
const NAMED_SERVER = process.env["FERMATA_TEST_MYSQL"];
const USUAL_SERVER = "mysql://root@127.0.0.1:3306";
const DAEMON = "/usr/sbin/mariadbd";
const START_MS = 60_000;

export interface MysqlUnderTest extends StorageUnderTest {
  readonly database: KnexDatabase;
  readonly url: string;
}

export const mysqlStorage = { name: "MySQL", open: openMysql } satisfies StorageKind;

/** A database of its own on the server, with the schema. */
async function openMysql(): Promise<MysqlUnderTest> {
  const { url, drop } = await createMysqlDatabase();
  const database = await openDatabase({ url, logger: SILENT });
  await database.migrate();
  const close = async (): Promise<void> => {
    await database.close();
    await drop();
  };
  return { ...underTest(createStores(database, TEST_PORTS)), database, url, close };
}

/** An empty database with a name nobody else has, on the shared server or on another one. */
export async function createMysqlDatabase(server?: string): Promise<{ readonly url: string; drop(): Promise<void> }> {
  const on = server ?? (await sharedServer());
  const name = `fermata_test_${process.pid}_${randomBytes(4).toString("hex")}`;
  await query(on, `CREATE DATABASE ${name}`);
  return { url: `${on}/${name}`, drop: () => query(on, `DROP DATABASE ${name}`) };
}

let shared: Promise<string> | undefined;

/** @throws {Error} saying how to start a server, when none answers and none can be installed */
export function sharedServer(): Promise<string> {
  shared ??= findServer();
  return shared;
}

async function findServer(): Promise<string> {
  const server = NAMED_SERVER ?? USUAL_SERVER;
  const refusal = await query(server, "SELECT 1").then(
    () => null,
    (error: Error) => error,
  );
  if (refusal === null) return server;
  const isRoot = process.getuid?.() === 0;
  if (NAMED_SERVER === undefined && isRoot && !existsSync(DAEMON) && existsSync("/usr/bin/apt-get")) await installPackage("mariadb-server");
  if (NAMED_SERVER === undefined && existsSync(DAEMON)) {
    const own = await startPrivateMysql();
    process.once("exit", () => own.killNow());
    return own.server;
  }
  const address = new URL(server).host;
  throw new Error(
    `No MySQL or MariaDB answers at ${address} (${refusal.message}). Install mariadb-server, or set FERMATA_TEST_MYSQL to the URL of a server.`,
    { cause: refusal },
  );
}

/** A server of a test's own, to be killed and started as it likes. */
export interface PrivateMysql {
  /** As `storage.url` has it, without a database. */
  readonly server: string;
  readonly port: number;
  readonly pid: number;
  /** Starts it again on the same data and port, once it is down. */
  start(): Promise<void>;
  /** SIGKILL, or whatever signal is named. Resolves when the process is gone. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** For exit handlers: kills it and deletes its data without waiting. */
  killNow(): void;
  /** Kills it and deletes its data. */
  close(): Promise<void>;
}

export async function startPrivateMysql(options: readonly string[] = []): Promise<PrivateMysql> {
  const folder = await mkdtemp(join(tmpdir(), "fermata-mysql-"));
  const user = process.getuid?.() === 0 ? ["--user=root"] : [];
  await run("mariadb-install-db", ["--no-defaults", `--datadir=${folder}/data`, "--auth-root-authentication-method=normal", ...user]);
  const port = await freePort();
  const server = `mysql://root@127.0.0.1:${port}`;
  let child: ChildProcess | null = null;

  const start = async (): Promise<void> => {
    const args = [
      "--no-defaults",
      ...user,
      `--datadir=${folder}/data`,
      `--port=${port}`,
      "--bind-address=127.0.0.1",
      `--socket=${folder}/mysqld.sock`,
      `--pid-file=${folder}/mysqld.pid`,
      `--log-error=${folder}/error.log`,
      ...options,
    ];
    child = spawn(DAEMON, args, { stdio: "ignore" });
    await answersWithin(server, START_MS);
  };
  const kill = async (signal: NodeJS.Signals = "SIGKILL"): Promise<void> => {
    const running = child;
    child = null;
    if (running === null || running.exitCode !== null) return;
    const gone = new Promise((resolve) => running.once("exit", resolve));
    running.kill(signal);
    await gone;
  };
  await start();
  return {
    server,
    port,
    get pid() {
      if (child?.pid === undefined) throw new Error("The private server is down.");
      return child.pid;
    },
    start,
    kill,
    killNow: () => {
      child?.kill("SIGKILL");
      rmSync(folder, { recursive: true, force: true });
    },
    close: async () => {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function answersWithin(server: string, ms: number): Promise<void> {
  const until = performance.now() + ms;
  for (;;) {
    try {
      return await query(server, "SELECT 1");
    } catch (error) {
      if (performance.now() > until) throw error;
    }
    await pause(50);
  }
}

/** Runs one statement on a connection of its own. */
async function query(server: string, sql: string): Promise<void> {
  const connection: Connection = await createConnection(server);
  try {
    await connection.query(sql);
  } finally {
    await connection.end();
  }
}
