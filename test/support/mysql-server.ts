import { type ChildProcess, execFile, spawn } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { createConnection, type RowDataPacket } from "mysql2/promise";
import { freePort, installPackage } from "./services.js";

const run = promisify(execFile);

const START_MS = 60_000;

/** How to set up and start a server of one vendor. */
interface Make {
  readonly program: readonly string[];
  readonly options: readonly string[];
  /** A new folder for its data, and its path as the program sees it. */
  folder(): Promise<{ readonly path: string; readonly seen: string }>;
  /** Creates the server's data in that folder; its root has no password. */
  initialise(seen: string): Promise<unknown>;
}

/** MariaDB: what is installed on the machine, or below a folder. */
function mariadbIn(place: Place): Make {
  return {
    program: [...place.command, "/usr/sbin/mariadbd"],
    options: [],
    folder: place.folder,
    initialise: (seen) =>
      runIn(place, "mariadb-install-db", [
        "--no-defaults",
        `--datadir=${seen}/data`,
        `--tmpdir=${seen}`,
        "--auth-root-authentication-method=normal",
        // Below a folder no name leads to an address.
        "--force",
        ...AS_ROOT,
      ]),
  };
}

/** Without them MySQL speaks no TLS; by default it makes some at each start where there are none. */
const NO_CERTIFICATES = "--auto-generate-certs=OFF";

function mysqlIn(place: Place): Make {
  return {
    program: [...place.command, "/usr/sbin/mysqld"],
    options: ["--mysqlx=OFF", "--secure-file-priv=NULL", "--local-infile=ON"],
    folder: place.folder,
    initialise: (seen) =>
      runIn(place, "/usr/sbin/mysqld", [
        "--no-defaults",
        "--initialize-insecure",
        NO_CERTIFICATES,
        `--datadir=${seen}/data`,
        ...AS_ROOT,
      ]),
  };
}

/** Where programs run. */
interface Place extends Pick<Make, "folder"> {
  /** What comes before a program and its arguments. */
  readonly command: readonly string[];
}

const MACHINE: Place = {
  command: [],
  async folder() {
    const path = await mkdtemp(join(tmpdir(), "fermata-mysql-"));
    return { path, seen: path };
  },
};

/** An engine with its libraries in a folder of its own; see `engine-setup.ts`. */
function below(root: string): Place {
  return {
    command: ["chroot", root],
    async folder() {
      const path = await mkdtemp(join(root, "var/lib/fermata-mysql-"));
      return { path, seen: path.slice(root.length) };
    },
  };
}

function runIn({ command }: Place, program: string, args: readonly string[]): Promise<unknown> {
  const [first = "", ...others] = [...command, program, ...args];
  return run(first, others);
}

/** Whether private servers are MariaDB: what is installed on the machine, or below a folder. */
export function isMariadb(root = process.env["FERMATA_TEST_MYSQL_ROOT"]): boolean {
  return root === undefined || existsSync(join(root, "usr/sbin/mariadbd"));
}

/** An option of private servers that speak no TLS. MySQL replicates with it alone. */
export function withoutTls(): string {
  return isMariadb() ? "--skip-ssl" : NO_CERTIFICATES;
}

function makeOf(root: string | undefined): Make {
  const place = root === undefined ? MACHINE : below(root);
  return isMariadb(root) ? mariadbIn(place) : mysqlIn(place);
}

const AS_ROOT = process.getuid?.() === 0 ? ["--user=root"] : [];

/** @throws {Error} none is installed, and none can be */
async function findProgram({ program }: Make): Promise<void> {
  if (program[0] === "chroot" || existsSync(program[0] as string)) return;
  if (process.getuid?.() === 0 && existsSync("/usr/bin/apt-get")) return installPackage("mariadb-server");
  throw new Error(`There is no ${program[0]}. Install mariadb-server.`);
}

/** A server of one test, which may kill and start it. */
export interface PrivateMysql {
  /** In the form of `storage.url`, without a database. */
  readonly server: string;
  readonly port: number;
  /** Starts it again on the same data and port after it has stopped. */
  start(): Promise<void>;
  /** SIGKILL, or another signal. Resolves when the process has ended. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** SIGSTOP: it keeps its connections and sends nothing more. */
  /** From then on no thread of it runs. */
  freeze(): Promise<void>;
  thaw(): void;
  /** Kills it and deletes its data. */
  close(): Promise<void>;
}

/**
 * MariaDB, or the engine below a folder. It ends with this process at the latest.
 *
 * @param root that folder; by default what `FERMATA_TEST_MYSQL_ROOT` names
 */
export async function startPrivateMysql(
  options: readonly string[] = [],
  root = process.env["FERMATA_TEST_MYSQL_ROOT"],
): Promise<PrivateMysql> {
  const make = makeOf(root);
  await findProgram(make);
  const { path, seen } = await make.folder();
  await make.initialise(seen);
  const port = await freePort();
  const server = `mysql://root@127.0.0.1:${port}`;
  let child: ChildProcess | null = null;

  const start = async (): Promise<void> => {
    const args = [
      ...make.program.slice(1),
      "--no-defaults",
      ...AS_ROOT,
      ...make.options,
      `--datadir=${seen}/data`,
      // At its start a server deletes the temporary tables that others have in the same folder.
      `--tmpdir=${seen}`,
      `--port=${port}`,
      "--bind-address=127.0.0.1",
      `--socket=${seen}/mysqld.sock`,
      `--pid-file=${seen}/mysqld.pid`,
      `--log-error=${seen}/error.log`,
      ...options,
    ];
    child = spawn(make.program[0] as string, args, { stdio: "ignore" });
    // Nothing waits for a server that no one closes: it ends with this process.
    child.unref();
    await respondsWithin(server, START_MS);
  };
  const kill = async (signal: NodeJS.Signals = "SIGKILL"): Promise<void> => {
    const running = child;
    child = null;
    if (running === null || running.exitCode !== null || running.signalCode !== null) return;
    running.ref();
    const gone = new Promise((resolve) => running.once("exit", resolve));
    running.kill(signal);
    await gone;
  };
  const signal = (name: NodeJS.Signals): void => {
    if (child?.kill(name) !== true) throw new Error("The private server is down.");
  };
  const killNow = (): void => {
    child?.kill("SIGKILL");
    rmSync(path, { recursive: true, force: true });
  };
  process.once("exit", killNow);
  await start();
  return {
    server,
    port,
    start,
    kill,
    freeze: async () => {
      signal("SIGSTOP");
      await untilStopped(child?.pid);
    },
    thaw: () => signal("SIGCONT"),
    close: async () => {
      process.off("exit", killNow);
      await kill();
      await rm(path, { recursive: true, force: true });
    },
  };
}

/** A signal to stop has been sent to a process before it has stopped. */
async function untilStopped(pid: number | undefined): Promise<void> {
  for (;;) {
    const threads = await readdir(`/proc/${pid}/task`);
    const stats = await Promise.all(threads.map((id) => readFile(`/proc/${pid}/task/${id}/stat`, "utf8")));
    if (stats.every((stat) => stat.slice(stat.lastIndexOf(")") + 2).startsWith("T"))) return;
    await pause(5);
  }
}

async function respondsWithin(server: string, ms: number): Promise<void> {
  const until = performance.now() + ms;
  for (;;) {
    try {
      await query(server, "SELECT 1");
      return;
    } catch (error) {
      if (performance.now() > until) throw error;
    }
    await pause(50);
  }
}

/** Runs one statement on a separate connection. @param url with or without a database */
export async function query<Row = Record<string, unknown>>(
  url: string,
  sql: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  const connection = await createConnection(url);
  try {
    const [rows] = await connection.query<RowDataPacket[]>(sql, [...values]);
    return rows as Row[];
  } finally {
    await connection.end();
  }
}
