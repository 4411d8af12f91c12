import { type ChildProcess, execFile, spawn } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { chmod, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { query } from "./mysql-server.js";
import { eventually } from "./rabbitmq.js";
import { freePort, installPackage } from "./services.js";

const run = promisify(execFile);

const PROGRAM = "/usr/sbin/mariadbd";
const PROVIDER = "/usr/lib/galera/libgalera_smm.so";
/** Not root: rsync would then receive as a user without rights. */
const IS_ROOT = process.getuid?.() === 0;
const USER = IS_ROOT ? ["--user=mysql"] : [];

/** A node that was away long is sent all data by another one. */
const JOIN_MS = 120_000;

/** Debian's packages that a cluster needs next to the server, each with a file that it contains. */
const PACKAGES: Readonly<Record<string, string>> = {
  "mariadb-server": PROGRAM,
  "galera-4": PROVIDER,
  rsync: "/usr/bin/rsync",
  lsof: "/usr/bin/lsof",
};

/** One node of a cluster, which a test may kill, freeze and start again. */
export interface GaleraNode {
  readonly name: string;
  /** In the form of `storage.url`, without a database. */
  readonly server: string;
  readonly port: number;
  /** Joins the others; resolves when it takes writes. */
  start(): Promise<void>;
  kill(signal?: NodeJS.Signals): Promise<void>;
  freeze(): void;
  thaw(): void;
}

/** Three nodes of MariaDB on this machine, which give up a node that hangs after seconds. The caller closes them. */
export class GaleraCluster {
  private constructor(
    readonly nodes: readonly Node[],
    private readonly folder: string,
  ) {}

  static async start(count = 3): Promise<GaleraCluster> {
    for (const [name, file] of Object.entries(PACKAGES)) if (!existsSync(file)) await installPackage(name);
    const folder = await mkdtemp(join(tmpdir(), "fermata-galera-"));
    await chmod(folder, 0o755);
    const places: Place[] = [];
    for (let index = 1; index <= count; index++) places.push(await placeFor(folder, index));
    const address = `gcomm://${places.map(({ group }) => `127.0.0.1:${group}`).join(",")}`;
    const cluster = new GaleraCluster(
      places.map((place) => new Node(place, address)),
      folder,
    );
    process.once("exit", cluster.killNow);
    try {
      await Promise.all(cluster.nodes.map((node) => node.initialise()));
      // One after another: each is sent its data by those before it.
      for (const [index, node] of cluster.nodes.entries()) await node.start(index === 0 ? ["--wsrep-new-cluster"] : []);
      return cluster;
    } catch (error) {
      await cluster.close();
      throw error;
    }
  }

  /** Resolves when all nodes take writes and see each other: one that was frozen may have to join again first. */
  ready(): Promise<void> {
    const all = (): Promise<unknown> => Promise.all(this.nodes.map((node) => node.checkReady(this.nodes.length)));
    return eventually(all, JOIN_MS);
  }

  /** The URL of a database for all nodes, that of this index first. */
  url(database: string, first = 0): string {
    const nodes = [...this.nodes.slice(first), ...this.nodes.slice(0, first)];
    return `mysql://root@${nodes.map(({ port }) => `127.0.0.1:${port}`).join(",")}/${database}`;
  }

  async close(): Promise<void> {
    process.off("exit", this.killNow);
    await Promise.all(this.nodes.map((node) => node.kill()));
    await rm(this.folder, { recursive: true, force: true });
  }

  private readonly killNow = (): void => {
    for (const node of this.nodes) node.killNow();
    rmSync(this.folder, { recursive: true, force: true });
  };
}

interface Place {
  readonly name: string;
  readonly folder: string;
  readonly port: number;
  /** Ports of the group, and for the data of a node that joins: a part of them, and all. */
  readonly group: number;
  readonly part: number;
  readonly all: number;
}

async function placeFor(folder: string, index: number): Promise<Place> {
  const name = `node${index}`;
  return {
    name,
    folder: join(folder, name),
    port: await freePort(),
    group: await freePort(),
    part: await freePort(),
    all: await freePort(),
  };
}

class Node implements GaleraNode {
  readonly name: string;
  readonly port: number;
  readonly server: string;
  private child: ChildProcess | null = null;

  constructor(
    private readonly place: Place,
    private readonly cluster: string,
  ) {
    this.name = place.name;
    this.port = place.port;
    this.server = `mysql://root@127.0.0.1:${place.port}`;
  }

  async initialise(): Promise<void> {
    const { folder } = this.place;
    await run("install", ["-d", ...(IS_ROOT ? ["-o", "mysql"] : []), folder]);
    const options = [`--datadir=${folder}/data`, `--tmpdir=${folder}`, "--auth-root-authentication-method=normal"];
    await run("mariadb-install-db", ["--no-defaults", ...options, ...USER]);
  }

  async start(more: readonly string[] = []): Promise<void> {
    const args = [...this.options(), ...(await this.position()), ...more];
    this.child = spawn(PROGRAM, args, { stdio: "ignore", detached: true });
    const { child } = this;
    await eventually(async () => {
      if (child.exitCode !== null) throw new Error(`${this.name} has ended with ${child.exitCode}.`);
      await this.checkReady();
    }, JOIN_MS).catch(async (error: unknown) => {
      const log = await readFile(join(this.place.folder, "error.log"), "utf8").catch(() => "");
      throw new Error(`${this.name} does not join. ${log.slice(-4_000)}`, { cause: error });
    });
  }

  async kill(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    const running = this.child;
    this.child = null;
    if (running?.pid === undefined || running.exitCode !== null || running.signalCode !== null) return;
    const gone = new Promise((resolve) => running.once("exit", resolve));
    // Those that send and receive all data are of its process group.
    if (signal === "SIGKILL") process.kill(-running.pid, signal);
    else running.kill(signal);
    await gone;
  }

  killNow(): void {
    const pid = this.child?.pid;
    if (pid !== undefined && this.child?.exitCode === null) process.kill(-pid, "SIGKILL");
  }

  freeze(): void {
    this.child?.kill("SIGSTOP");
  }

  thaw(): void {
    this.child?.kill("SIGCONT");
  }

  /** @throws {Error} it takes no writes, or sees fewer nodes than these */
  async checkReady(size = 1): Promise<void> {
    const rows = await query<{ Variable_name: string; Value: string }>(
      this.server,
      "SHOW STATUS WHERE Variable_name IN ('wsrep_local_state_comment', 'wsrep_cluster_size')",
    );
    const found = new Map(rows.map(({ Variable_name, Value }) => [Variable_name, Value]));
    const state = found.get("wsrep_local_state_comment");
    if (state !== "Synced" || Number(found.get("wsrep_cluster_size")) < size)
      throw new Error(`${this.name} is ${state} among ${found.get("wsrep_cluster_size")}.`);
  }

  /** Where a killed node has got to: without that it would be sent all data, not only what it lacks. */
  private async position(): Promise<string[]> {
    const log = join(this.place.folder, `recover-${Date.now()}.log`);
    await run(PROGRAM, [...this.options(), "--wsrep-recover", `--log-error=${log}`]).catch(() => undefined);
    const text = await readFile(log, "utf8").catch(() => "");
    const [, position] = /Recovered position:? *(\S+:-?\d+)/.exec(text) ?? [];
    return position === undefined ? [] : [`--wsrep-start-position=${position}`];
  }

  private options(): string[] {
    const { folder, port, group, part, all, name } = this.place;
    const provider = [
      `base_port=${group}`,
      `gmcast.listen_addr=tcp://127.0.0.1:${group}`,
      `ist.recv_addr=127.0.0.1:${part}`,
      "gcache.size=32M",
      // By default the others wait 5 s for a node that hangs, and 15 s before they go on without it.
      "evs.keepalive_period=PT0.5S",
      "evs.suspect_timeout=PT2S",
      "evs.inactive_timeout=PT4S",
      "evs.install_timeout=PT4S",
    ];
    return [
      "--no-defaults",
      ...USER,
      `--datadir=${folder}/data`,
      `--tmpdir=${folder}`,
      `--port=${port}`,
      "--bind-address=127.0.0.1",
      `--socket=${folder}/mysqld.sock`,
      `--pid-file=${folder}/mysqld.pid`,
      `--log-error=${folder}/error.log`,
      "--binlog-format=ROW",
      "--innodb-autoinc-lock-mode=2",
      "--wsrep-on=ON",
      `--wsrep-provider=${PROVIDER}`,
      `--wsrep-provider-options=${provider.join(";")}`,
      "--wsrep-cluster-name=fermata",
      `--wsrep-cluster-address=${this.cluster}`,
      `--wsrep-node-name=${name}`,
      `--wsrep-node-address=127.0.0.1:${group}`,
      "--wsrep-sst-method=rsync",
      `--wsrep-sst-receive-address=127.0.0.1:${all}`,
    ];
  }
}
