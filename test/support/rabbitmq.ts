import { type ChildProcess, execFile, execFileSync, spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, rmSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { type Channel, connect } from "amqplib";
import { topologyOf } from "../../adapters/queue/rabbitmq/topology.js";
import { openRelayTo, type Relay } from "./relay.js";
import { freePort, installPackage, isLeftover, uniqueName } from "./services.js";

export type { Relay } from "./relay.js";

const run = promisify(execFile);

/** Debian's wrapper, which takes the user that the broker runs as. */
const CONTROL = "/usr/sbin/rabbitmqctl";

/**
 * Where the suites find a server; `FERMATA_TEST_RABBITMQ` names another one, with the rights to make and delete queues.
 */
export const RABBITMQ_SERVER = (process.env["FERMATA_TEST_RABBITMQ"] ?? "amqp://guest:guest@127.0.0.1:5672").replace(
  /\/$/,
  "",
);

const BOUND_MS = 30_000;

/** Retries until `check` neither throws nor rejects. */
export async function eventually(check: () => unknown, boundMs = BOUND_MS): Promise<void> {
  const until = performance.now() + boundMs;
  for (;;) {
    try {
      await check();
      return;
    } catch (error) {
      if (performance.now() > until) throw error;
    }
    await pause(20);
  }
}

/** @returns the error of `check` @throws {Error} it still resolves when the bound is over */
export async function refusal(check: () => Promise<unknown>, boundMs = BOUND_MS): Promise<Error> {
  let refused: Error | null = null;
  await eventually(async () => {
    refused = await check().then(
      () => null,
      (error: Error) => error,
    );
    if (refused === null) throw new Error("It is still accepted.");
  }, boundMs);
  return refused as unknown as Error;
}

/** A private part of the server: names with a unique prefix. */
export interface QueueSpace {
  /** In the form of `queue.url`. */
  readonly url: string;
  readonly jobs: string;
  readonly dead: string;
  queueOf(providerId: string): string;
  /** The same space through another host and port. */
  through(address: string): string;
  /** Runs `work` on a channel of the server itself, not of the tested code. */
  onServer<T>(work: (channel: Channel) => Promise<T>): Promise<T>;
  /** Deletes the exchanges and the queues of these providers. */
  clear(...providerIds: readonly string[]): Promise<void>;
}

let found: Promise<void> | undefined;
let shared: Promise<string> | undefined;

/**
 * @param givenServer one other than the shared server, on which this process has a virtual host of its own
 * @throws {Error} saying how to start a server, when none is reachable and none can be installed
 */
export async function openQueueSpace(givenServer?: string): Promise<QueueSpace> {
  const server = givenServer ?? (await (shared ??= openVirtualHost()));
  const prefix = `test-${process.pid}-${randomBytes(4).toString("hex")}`;
  const topology = topologyOf(prefix);
  const onServer: QueueSpace["onServer"] = async (work) => {
    const connection = await connect(server);
    try {
      const channel = await connection.createChannel();
      channel.on("error", () => undefined);
      return await work(channel);
    } finally {
      await connection.close();
    }
  };
  return {
    ...topology,
    url: `${server}?prefix=${prefix}`,
    through: (address) => `${server.replace(new URL(server).host, address)}?prefix=${prefix}`,
    onServer,
    clear: (...providerIds) =>
      onServer(async (channel) => {
        for (const queue of [topology.dead, ...providerIds.map((id) => topology.queueOf(id))])
          await channel.deleteQueue(queue);
        for (const exchange of [topology.jobs, topology.dead]) await channel.deleteExchange(exchange);
      }),
  };
}

/**
 * Creates a virtual host on the shared server and deletes it when the process ends, so that test runs side by side
 * share no queue, policy or limit. Only the machine's own rabbitmqctl can do that; without it the tests share the
 * virtual host of the URL, where their prefixes keep them apart.
 *
 * @returns the server with the virtual host
 */
async function openVirtualHost(): Promise<string> {
  await (found ??= findServer());
  const url = new URL(RABBITMQ_SERVER);
  if (!isOnThisMachine(url) || !existsSync(CONTROL)) return RABBITMQ_SERVER;
  const name = uniqueName();
  await run(CONTROL, ["-q", "add_vhost", name]);
  process.once("exit", () => spawnSync(CONTROL, ["-q", "delete_vhost", name], { stdio: "ignore", timeout: 10_000 }));
  await run(CONTROL, ["-q", "set_permissions", "-p", name, decodeURIComponent(url.username), ".*", ".*", ".*"]);
  const { stdout } = await run(CONTROL, ["-q", "--no-table-headers", "list_vhosts", "name"]);
  for (const leftover of stdout.split("\n").filter(isLeftover))
    // Another run may have deleted it in the meantime.
    await run(CONTROL, ["-q", "delete_vhost", leftover]).catch(() => undefined);
  return `${RABBITMQ_SERVER}/${name}`;
}

/** Whether rabbitmqctl controls the server that this URL names. Only root may use it. */
function isOnThisMachine({ host, pathname }: URL): boolean {
  return host === "127.0.0.1:5672" && pathname.length <= 1 && process.getuid?.() === 0;
}

async function findServer(): Promise<void> {
  if (await responses()) return;
  const url = new URL(RABBITMQ_SERVER);
  if (isOnThisMachine(url) && existsSync("/usr/bin/apt-get")) {
    if (!existsSync(join(PROGRAMS, "rabbitmq-server"))) await installPackage("rabbitmq-server");
    spawn("rabbitmq-server", { detached: true, stdio: "ignore" }).unref();
    await eventually(async () => {
      if (!(await responses())) throw new Error("RabbitMQ was started and does not respond.");
    }, 60_000);
    return;
  }
  throw new Error(
    `No RabbitMQ is reachable at ${url.host}. Install rabbitmq-server and start it, or set FERMATA_TEST_RABBITMQ ` +
      `to the URL of one.`,
  );
}

async function responses(): Promise<boolean> {
  const connection = await connect(RABBITMQ_SERVER).catch(() => null);
  await connection?.close();
  return connection !== null;
}

/** A relay to the server that a test can break. @param tls key and certificate, for an encrypted relay */
export function openRelay(tls?: { readonly key: string; readonly cert: string }): Promise<Relay> {
  const { hostname, port } = new URL(RABBITMQ_SERVER);
  return openRelayTo({ host: hostname, port: Number(port === "" ? 5672 : port) }, tls === undefined ? {} : { tls });
}

/** A self-signed certificate for localhost, with its key. */
export async function selfSigned(): Promise<{ readonly key: string; readonly cert: string }> {
  const folder = await mkdtemp(join(tmpdir(), "fermata-tls-"));
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"];
  const created = ["-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", key, "-out", cert];
  execFileSync("openssl", ["req", "-x509", ...created, ...subject], { stdio: "ignore" });
  const pair = { key: await readFile(key, "utf8"), cert: await readFile(cert, "utf8") };
  await rm(folder, { recursive: true });
  return pair;
}

/** Where Debian has the programs behind its wrappers, which would change the user. */
const PROGRAMS = "/usr/lib/rabbitmq/bin";

/** A broker of one suite, which may kill it. It is not running at first. */
export interface PrivateBroker {
  /** Its URL, as {@link openQueueSpace} takes it. */
  readonly server: string;
  /** Its name in Erlang. */
  readonly node: string;
  /** Starts it with its earlier data; resolves when it responds. */
  start(): Promise<void>;
  /** kill -9 */
  kill(): Promise<void>;
  /** rabbitmqctl */
  control(...args: readonly string[]): Promise<void>;
  /** Kills it and deletes its data. */
  remove(): Promise<void>;
}

export interface PrivateBrokerOptions {
  /** Lines of rabbitmq.conf. */
  readonly settings?: readonly string[];
  /** Of those that come with the broker. */
  readonly plugins?: readonly string[];
  /** What the nodes of one cluster share; one of its own by default. */
  readonly cookie?: string;
  /** Further arguments of Erlang. */
  readonly arguments?: string;
}

export async function makePrivateBroker({
  settings = [],
  plugins = [],
  cookie,
  arguments: ofErlang = "",
}: PrivateBrokerOptions = {}): Promise<PrivateBroker> {
  await (found ??= findServer());
  const [port, distributionPort] = [await freePort(), await freePort()];
  const home = await mkdtemp(join(tmpdir(), "fermata-broker-"));
  const node = `fermata${port}@localhost`;
  const configuration = [`listeners.tcp.1 = 127.0.0.1:${port}`, ...settings].map((line) => `${line}\n`).join("");
  const files = { "rabbitmq.conf": configuration, "env.conf": "", plugins: `[${plugins.join(",")}].\n` };
  for (const [name, text] of Object.entries(files)) await writeFile(join(home, name), text);
  if (cookie !== undefined) await writeFile(join(home, ".erlang.cookie"), cookie, { mode: 0o400 });
  const env = {
    ...process.env,
    HOME: home,
    ERL_EPMD_ADDRESS: "127.0.0.1",
    RABBITMQ_NODENAME: node,
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: ofErlang,
    RABBITMQ_NODE_PORT: String(port),
    RABBITMQ_DIST_PORT: String(distributionPort),
    RABBITMQ_MNESIA_BASE: join(home, "mnesia"),
    RABBITMQ_LOG_BASE: join(home, "log"),
    RABBITMQ_PID_FILE: join(home, "pid"),
    RABBITMQ_CONFIG_FILE: join(home, "rabbitmq.conf"),
    RABBITMQ_CONF_ENV_FILE: join(home, "env.conf"),
    RABBITMQ_ENABLED_PLUGINS_FILE: join(home, "plugins"),
  };
  const program = (name: string): string => (existsSync(join(PROGRAMS, name)) ? join(PROGRAMS, name) : name);
  const server = `amqp://guest:guest@127.0.0.1:${port}`;
  let child: ChildProcess | null = null;
  const kill = async (): Promise<void> => {
    if (child?.pid === undefined) return;
    const ended = new Promise((resolve) => child?.once("exit", resolve));
    // The whole process group: the broker starts helpers.
    process.kill(-child.pid, "SIGKILL");
    child = null;
    await ended;
  };
  process.once("exit", () => {
    // A broker that has ended by itself has no process group any more.
    if (child?.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGKILL");
    rmSync(home, { recursive: true, force: true });
  });
  return {
    server,
    node,
    kill,
    async start() {
      child = spawn(program("rabbitmq-server"), { env, detached: true, stdio: "ignore" });
      await eventually(async () => {
        const connection = await connect(server);
        await connection.close();
      }, 60_000);
    },
    async control(...args) {
      await run(program("rabbitmqctl"), ["-n", node, ...args], { env });
    },
    async remove() {
      await kill();
      // A helper of the broker may still write a file as it ends.
      await rm(home, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}
