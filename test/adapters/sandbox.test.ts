import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { Sandbox, SandboxError, type SandboxOptions, SandboxStartError } from "../../adapters/sandbox/index.js";
import { dataBytesOf, idleDataBytes } from "../../adapters/sandbox/idle-data.js";
import { DEFAULT_LIMITS, TASKS_PER_PROCESS, UNTOUCHED_BYTES } from "../../adapters/sandbox/limits.js";
import { startProcess } from "../../adapters/sandbox/start-process.js";
import { PROC_USAGE, PS_USAGE, type UsageReader } from "../../adapters/sandbox/usage.js";
import { moduleUrl } from "../support/sandbox/module-url.js";
import { type Misdeed, WORK_MS } from "../support/sandbox/misbehaving.js";

const MIB = 1024 * 1024;
const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => null,
    (error: unknown) => error,
  );
const HANDLER = moduleUrl("misbehaving");
/** Disables the watchdog: only the kernel's limit ends the process then. */
const BLIND: UsageReader = { intervalMs: 1_000, read: () => null };

describe("Sandbox", function () {
  this.timeout(60_000);
  const open: Sandbox[] = [];
  const sandboxWith = (options: Partial<SandboxOptions> = {}): Sandbox => {
    const sandbox = new Sandbox({ handler: HANDLER, processes: 1, ...options });
    open.push(sandbox);
    return sandbox;
  };
  afterEach(async () => {
    await Promise.all(open.splice(0).map((sandbox) => sandbox.close()));
  });

  /** One task of one request. */
  async function ask<T = object>(sandbox: Sandbox, request: Misdeed): Promise<T> {
    const task = await sandbox.open();
    try {
      const reply = await task.ask(request);
      task.release();
      return reply as T;
    } catch (error) {
      await task.discard();
      throw error;
    }
  }
  const pidOf = async (sandbox: Sandbox): Promise<number> =>
    (await ask<{ pid: number }>(sandbox, { kind: "report" })).pid;

  it("starts no process before the first request, and uses one for a bounded number of tasks", async () => {
    let started = 0;
    const start: SandboxOptions["start"] = (...args) => {
      started += 1;
      return startProcess(...args);
    };
    const sandbox = sandboxWith({ start });
    (await sandbox.open()).release();
    expect(started).to.equal(0);
    const pids = [];
    for (let task = 0; task < TASKS_PER_PROCESS + 1; task += 1) pids.push(await pidOf(sandbox));
    expect([new Set(pids.slice(0, -1)).size, new Set(pids).size, started]).to.deep.equal([1, 2, 2]);
  });

  it("replaces a process that has used up the CPU time of one task", async () => {
    const sandbox = sandboxWith({ limits: { cpuMs: 2 * WORK_MS } });
    const pids = new Set<number>();
    for (let task = 0; task < 4; task += 1) pids.add((await ask<{ pid: number }>(sandbox, { kind: "work" })).pid);
    expect(pids.size).to.be.above(1);
  });

  it("gives its processes no environment and no network", async () => {
    const server = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
    await once(server, "listening");
    let connections = 0;
    server.on("connection", () => (connections += 1));
    const { port } = server.address() as AddressInfo;
    const sandbox = sandboxWith();
    const { env } = await ask<{ env: string[] }>(sandbox, { kind: "report" });
    const unexpected = env.filter((name) => !/^(NODE_CHANNEL_|PWD$|_$|SHLVL$|OLDPWD$|ESBUILD_|__CF_)/.test(name));
    expect(unexpected).to.deep.equal([]);
    const { problems } = await ask<{ problems: (string | null)[] }>(sandbox, { kind: "connect", port });
    for (const problem of problems) expect(problem).to.equal("Error: This process has no network.");
    expect(connections).to.equal(0);
    server.close();
  });

  const DEATHS: readonly {
    readonly title: string;
    readonly kind: Misdeed["kind"];
    readonly options?: Partial<SandboxOptions>;
    readonly why: RegExp;
  }[] = [
    {
      title: "fills memory",
      kind: "fill",
      options: { limits: { memoryBytes: 192 * MIB } },
      why: /more than 192 MiB|process ended/,
    },
    {
      title: "fills memory and has only the watchdog",
      kind: "fill",
      options: { start: plain },
      why: /more than 320 MiB of memory/,
    },
    {
      title: "fills memory and has only the kernel's limit",
      kind: "fill",
      options: { usage: BLIND },
      why: /process ended/,
    },
    {
      title: "never ends, by its processor time",
      kind: "spin",
      options: { limits: { cpuMs: 300 } },
      why: /more than 300 ms of processor time/,
    },
    { title: "never replies", kind: "hang", options: { limits: { replyMs: 300 } }, why: /did not reply within 300 ms/ },
    { title: "ends", kind: "exit", why: /process ended \(exit code 3\)/ },
    { title: "throws", kind: "throw", why: /process ended \(exit code 1\)/ },
  ];
  for (const { title, kind, options, why } of DEATHS) {
    it(`fails the task whose process ${title}, and runs the next in another process`, async () => {
      const sandbox = sandboxWith(options);
      const before = await pidOf(sandbox);
      const failure = await failureOf(ask(sandbox, { kind }));
      expect(failure).to.be.instanceOf(SandboxError);
      expect((failure as Error).message).to.match(why);
      expect(await pidOf(sandbox)).not.to.equal(before);
      expect(isRunning(before)).to.equal(false);
    });
  }

  it("grants what this runtime reserves when idle beyond the limits of a task", () => {
    expect(dataBytesOf("/no/such/node")).to.equal(null);
    if (process.platform !== "linux") return;
    const measured = dataBytesOf(process.execPath) ?? 0;
    expect(measured).to.be.above(8 * MIB);
    expect(idleDataBytes() / measured).to.be.within(0.5, 2);
    const child = startProcess(HANDLER, DEFAULT_LIMITS);
    child.kill("SIGKILL");
    const kib = Math.ceil((DEFAULT_LIMITS.memoryBytes + idleDataBytes() + UNTOUCHED_BYTES) / 1024);
    expect(child.spawnargs).to.include(String(kib));
  });

  it("does not blame the task for a process that ends before it is ready", async () => {
    const start = (): ChildProcess =>
      spawn("/bin/sh", ["-c", "exit 5"], { stdio: ["ignore", "ignore", "ignore", "ipc"] });
    expect(await failureOf(ask(sandboxWith({ start }), { kind: "echo" }))).to.be.instanceOf(SandboxStartError);
  });

  it("runs one task at a time, and drops a waiting one on abort", async () => {
    const sandbox = sandboxWith();
    const first = await sandbox.open();
    const abort = new AbortController();
    const waiting = failureOf(sandbox.open(abort.signal));
    const next = sandbox.open();
    abort.abort(new Error("no longer wanted"));
    expect(await waiting).to.have.property("message", "no longer wanted");
    first.release();
    (await next).release();
  });

  it("ends its processes when it is closed, and starts no task afterwards", async () => {
    const sandbox = sandboxWith();
    const pid = await pidOf(sandbox);
    await sandbox.close();
    expect(isRunning(pid)).to.equal(false);
    expect(await failureOf(sandbox.open())).to.have.property("message", "The sandbox has been closed.");
  });

  it("leaves no process when its parent is killed", async () => {
    const parent = startParent();
    const [pid] = (await once(parent, "message")) as [number];
    expect(isRunning(pid)).to.equal(true);
    parent.kill("SIGKILL");
    await ended(pid);
  });

  it("measures a process the same by /proc and by ps", async () => {
    const { residentBytes, cpuMs } = (await PS_USAGE.read(process.pid)) ?? { residentBytes: 0, cpuMs: 0 };
    expect(residentBytes).to.be.within(20 * MIB, 4_096 * MIB);
    const own = process.cpuUsage();
    expect(cpuMs).to.be.within(0, (own.user + own.system) / 1_000 + 1_000);
    expect(await PS_USAGE.read(2 ** 30)).to.equal(null);
    expect(PROC_USAGE.read(2 ** 30)).to.equal(null);
    if (process.platform !== "linux") return;
    const measured = (await PROC_USAGE.read(process.pid)) ?? { residentBytes: 0 };
    expect(measured.residentBytes / residentBytes).to.be.within(0.5, 2);
  });
});

/** Without the kernel's limits. */
function plain(handler: URL, limits: Parameters<typeof startProcess>[1]): ChildProcess {
  return startProcess(handler, { ...limits, memoryBytes: 2 ** 40 });
}

/** A process with a sandboxed child, whose id it reports. */
function startParent(): ChildProcess {
  const file = fileURLToPath(moduleUrl("parent"));
  return spawn(process.execPath, [...process.execArgv, file, HANDLER.href], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Its parent is gone and cannot report it. */
async function ended(pid: number): Promise<void> {
  const { setTimeout: pause } = await import("node:timers/promises");
  for (let left = 300; isRunning(pid); left -= 1) {
    if (left === 0) throw new Error(`process ${pid} is still running`);
    await pause(50);
  }
}
