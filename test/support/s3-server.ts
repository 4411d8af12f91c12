import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { CreateBucketCommand, S3Client } from "@aws-sdk/client-s3";
import { freePort, installPackage } from "./services.js";

/**
 * OpenStack Swift with its S3 API, as Debian packages it: it verifies signatures, and lists, completes and aborts
 * multipart uploads.
 */
const PACKAGE = "python3-swift";
const INSTALLED = "/usr/lib/python3/dist-packages/swift";
/** Debian's Python, not another one in the path: the package belongs to it. */
const PYTHON = "/usr/bin/python3";

const ROLES = ["proxy", "account", "container", "object"] as const;

const BOUND_MS = 60_000;
const ACCESS_KEY = "test:tester";

/** The maximum number of objects in a listing, so that a few of them make pages. */
export const PAGE_OBJECTS_MAX = 4;

export interface S3Server {
  /** `http://127.0.0.1:PORT` */
  readonly endpoint: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** What a suite reads without the store under test. */
  readonly client: S3Client;
  /** Creates a new bucket. @returns its name */
  makeBucket(): Promise<string>;
  /** In the form of `audio.url`; `host`: through another one. */
  urlOf(bucket: string, host?: string): string;
  /** Ends it and deletes its data. */
  remove(): Promise<void>;
}

/** @throws {Error} saying how to install it, when it is missing and cannot be */
export async function startS3Server(): Promise<S3Server> {
  await install();
  const home = await mkdtemp(join(tmpdir(), "fermata-s3-"));
  const secretAccessKey = randomBytes(18).toString("hex");
  const free = new Set<number>();
  while (free.size < ROLES.length) free.add(await freePort());
  const ports = [...free];
  const [port = 0] = ports;
  await writeConfiguration(home, ports, secretAccessKey);
  const said: string[] = [];
  const children = ROLES.map((role) =>
    start([home, role, ...(role === "proxy" ? ports.slice(1).map(String) : [])], said),
  );
  const end = (): void => children.forEach((child) => child.kill("SIGKILL"));
  process.once("exit", end);
  const remove = async (): Promise<void> => {
    process.removeListener("exit", end);
    client.destroy();
    const closed = children.filter(isRunning).map((child) => once(child, "close"));
    end();
    await Promise.all(closed);
    await rm(home, { recursive: true, force: true });
  };
  const endpoint = `http://127.0.0.1:${port}`;
  const credentials = { accessKeyId: ACCESS_KEY, secretAccessKey };
  const client = new S3Client({
    endpoint,
    region: "us-east-1",
    forcePathStyle: true,
    credentials,
    requestChecksumCalculation: "WHEN_REQUIRED",
  });
  try {
    for (const [index, child] of children.entries()) await responding(ports[index] ?? 0, child);
  } catch (error) {
    await remove();
    throw new Error(`The S3 server did not start: ${(error as Error).message}\n${said.join("")}`, { cause: error });
  }
  return {
    endpoint,
    ...credentials,
    client,
    async makeBucket() {
      const name = `music-${randomBytes(6).toString("hex")}`;
      await client.send(new CreateBucketCommand({ Bucket: name }));
      return name;
    },
    urlOf: (bucket, host = `127.0.0.1:${port}`) =>
      `s3://${bucket}/files?endpoint=${encodeURIComponent(`http://${host}`)}`,
    remove,
  };
}

async function install(): Promise<void> {
  if (existsSync(INSTALLED)) return;
  if (process.getuid?.() === 0 && existsSync("/usr/bin/apt-get")) await installPackage(PACKAGE);
  if (!existsSync(INSTALLED)) throw new Error(`There is no S3 server to test with. Install Debian's ${PACKAGE}.`);
}

function start(args: readonly string[], said: string[]): ChildProcess {
  const child = spawn(PYTHON, ["-c", PROGRAM, ...args], { stdio: ["ignore", "ignore", "pipe"] });
  child.once("error", (error) => said.push(`${error.message}\n`));
  child.stderr.setEncoding("utf8").on("data", (text: string) => said.push(text));
  return child;
}

function isRunning({ pid, exitCode, signalCode }: ChildProcess): boolean {
  return pid !== undefined && exitCode === null && signalCode === null;
}

async function responding(port: number, child: ChildProcess): Promise<void> {
  const until = performance.now() + BOUND_MS;
  for (;;) {
    if (!isRunning(child)) throw new Error("it has ended");
    try {
      await fetch(`http://127.0.0.1:${port}/healthcheck`);
      return;
    } catch (error) {
      if (performance.now() > until) throw error;
    }
    await pause(50);
  }
}

/** Each role is a separate process. The proxy, which serves S3, finds the others by rings; each ring has one disk. */
const PROGRAM = `
import os, sys
from swift.common import utils
from swift.common.ring import RingBuilder
from swift.common.wsgi import run_wsgi
home, role, ports = sys.argv[1], sys.argv[2], sys.argv[3:]
utils.set_swift_dir(home)
for name, port in zip(["account", "container", "object"], ports):
    ring = RingBuilder(1, 1, 0)
    ring.add_dev({"region": 1, "zone": 1, "weight": 1, "ip": "127.0.0.1", "port": int(port), "device": "disk"})
    ring.rebalance()
    ring.get_ring().save(os.path.join(home, name + ".ring.gz"))
sys.exit(run_wsgi(os.path.join(home, role + ".conf"), role + "-server"))
`;

async function writeConfiguration(home: string, ports: readonly number[], secret: string): Promise<void> {
  const defaults = (role: (typeof ROLES)[number]): string =>
    [
      "[DEFAULT]",
      "bind_ip = 127.0.0.1",
      `bind_port = ${ports[ROLES.indexOf(role)]}`,
      "workers = 0",
      `user = ${userInfo().username}`,
      `swift_dir = ${home}`,
      "log_level = ERROR",
    ].join("\n");
  const filters = ["catch_errors", "healthcheck", "memcache", "listing_formats", "bulk", "s3api", "tempauth", "slo"];
  const options: Readonly<Record<string, string>> = {
    // It is optional.
    memcache: "memcache_servers = 127.0.0.1:1",
    s3api: `location = us-east-1\nmax_bucket_listing = ${PAGE_OBJECTS_MAX}`,
    tempauth: `user_${ACCESS_KEY.replace(":", "_")} = ${secret} .admin`,
  };
  const files: Record<string, string> = {
    "swift.conf": "[swift-hash]\nswift_hash_path_suffix = test\n[storage-policy:0]\nname = one\ndefault = yes\n",
    "proxy.conf": [
      defaults("proxy"),
      `[pipeline:main]\npipeline = ${filters.join(" ")} proxy-server`,
      ...filters.map((name) => `[filter:${name}]\nuse = egg:swift#${name}\n${options[name] ?? ""}`),
      "[app:proxy-server]\nuse = egg:swift#proxy\naccount_autocreate = true\n",
    ].join("\n"),
  };
  for (const role of ROLES.filter((name) => name !== "proxy")) {
    const disk = `devices = ${join(home, "devices")}\nmount_check = false\nfallocate_reserve = 0`;
    files[`${role}.conf`] =
      `${defaults(role)}\n${disk}\n[pipeline:main]\npipeline = ${role}-server\n[app:${role}-server]\nuse = ` +
      `egg:swift#${role}\n`;
  }
  await mkdir(join(home, "devices", "disk"), { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(join(home, name), text);
}
