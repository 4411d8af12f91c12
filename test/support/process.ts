import { type ChildProcess, spawn } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { run, type RunProcess } from "../../config/run.js";
import { repositoryPath } from "./repository.js";

/** Processes are started from the sources or from the build, as this file itself was. */
const IS_SOURCE = import.meta.url.endsWith(".ts");
const COMMAND = IS_SOURCE
  ? ["--import", pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href, repositoryPath("config/main.ts")]
  : [repositoryPath("dist/config/main.js")];

export type Environment = Readonly<Record<string, string>>;

/** Longest wait for a line, an exit or a change; promises of the product have their own, shorter bounds. */
const BOUND_MS = 45_000;

/** The output of a finished command. */
export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** The one JSON document on stdout. */
  json<T = Record<string, unknown>>(): T;
}

/** `fermata` as a separate process. */
export class FermataProcess {
  stdout = "";
  stderr = "";
  readonly exited: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
  private readonly child: ChildProcess;
  private readonly changed = new EventEmitter().setMaxListeners(0);

  /** @param main the program of another installation */
  constructor(args: readonly string[], env: Environment, cwd: string, main?: string) {
    const command = main === undefined ? COMMAND : [main];
    const child = spawn(process.execPath, [...command, ...args], {
      cwd,
      env: { ...ownEnvironment(), ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    child.stdout.setEncoding("utf8").on("data", (text: string) => this.note("stdout", text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => this.note("stderr", text));
    this.child = child;
    this.exited = new Promise((resolve, reject) => {
      child.once("error", reject);
      // `close` is emitted when the pipes are read completely as well.
      child.once("close", (code, signal) => {
        resolve({ code, signal });
        this.changed.emit("changed");
      });
    });
  }

  /** Resolves with the URL when it listens. */
  async listening(boundMs = BOUND_MS): Promise<string> {
    return (await this.line(/^listening on (\S+)$/m, boundMs))[1] as string;
  }

  /** Waits for a line on stdout. Fails with the whole output when the process ends before, or after the bound. */
  async line(pattern: RegExp, boundMs = BOUND_MS): Promise<RegExpExecArray> {
    const bound = AbortSignal.timeout(boundMs);
    for (;;) {
      const found = pattern.exec(this.stdout);
      if (found !== null) return found;
      if (this.hasExited)
        throw new Error(`The process ended without ${String(pattern)}:\n${this.stdout}${this.stderr}`);
      await once(this.changed, "changed", { signal: bound }).catch(() => {
        throw new Error(`No ${String(pattern)} within ${boundMs} ms:\n${this.stdout}${this.stderr}`);
      });
    }
  }

  /** The key of the account `demo`, from the file that a first start writes without a terminal. */
  async demoKey(): Promise<string> {
    const [, path = ""] = await this.line(/^Its API key is in (.+)$/m);
    return (await readFile(path, "utf8")).trim();
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  signal(name: NodeJS.Signals): void {
    this.child.kill(name);
  }

  /**
   * Repeats a signal until the process counts it as a second one: those of the first second are an echo of the first.
   */
  async signalAgain(name: NodeJS.Signals): Promise<void> {
    const repeat = setInterval(() => this.signal(name), 100);
    await eventually("a second signal", () => this.stderr.includes("a second signal came") || this.hasExited).finally(
      () => clearInterval(repeat),
    );
  }

  /** Kills it, as a power failure would. */
  async kill(): Promise<void> {
    this.signal("SIGKILL");
    await this.exited;
  }

  /** Sends it a signal to stop. @returns its exit code */
  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<number | null> {
    this.signal(signal);
    return (await this.exited).code;
  }

  get hasExited(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  private note(stream: "stdout" | "stderr", text: string): void {
    this[stream] += text;
    this.changed.emit("changed");
  }
}

export interface CallOptions {
  /** Whether its stdout is a terminal; no by default. */
  readonly isTerminal?: boolean;
  /** The operator's input; with it stdin and stderr are a terminal. */
  readonly keyboard?: PassThrough;
  /** The working directory. */
  readonly cwd?: string;
}

/** `fermata` inside this process: as fast as a function call. Signals are sent by hand. */
export class FermataCall {
  stdout = "";
  stderr = "";
  readonly ended: Promise<number>;
  private readonly signals = new EventEmitter();

  constructor(
    args: readonly string[],
    env: Environment,
    cwd: string,
    { isTerminal = false, keyboard }: CallOptions = {},
  ) {
    const { signals } = this;
    const hasKeyboard = keyboard !== undefined;
    const fake: { [name in keyof RunProcess]: unknown } = {
      env,
      cwd: () => cwd,
      stdin: Object.assign(keyboard ?? new PassThrough(), { isTTY: hasKeyboard }),
      stdout: Object.assign(this.collector("stdout"), { isTTY: isTerminal }),
      stderr: Object.assign(this.collector("stderr"), { isTTY: hasKeyboard }),
      on: signals.on.bind(signals),
      off: signals.off.bind(signals),
      exit: (code: number) => {
        throw new Error(`The process was ended by force with code ${code}.`);
      },
    };
    this.ended = run(args, fake as RunProcess);
  }

  async listening(): Promise<string> {
    const found = await eventually("listening", () => /^listening on (\S+)$/m.exec(this.stdout));
    return found[1] as string;
  }

  signal(name: NodeJS.Signals): void {
    this.signals.emit(name, name);
  }

  async stop(): Promise<number> {
    this.signal("SIGTERM");
    return this.ended;
  }

  private collector(stream: "stdout" | "stderr"): Writable {
    return new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        this[stream] += chunk.toString();
        done();
      },
    });
  }
}

/** Processes and folders of one test. All are removed after it, whatever happens. */
export class Sandbox {
  private readonly folders: string[] = [];
  private readonly processes: FermataProcess[] = [];
  private readonly calls: FermataCall[] = [];

  /** An empty data directory. */
  async dataDir(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), "fermata-system-"));
    this.folders.push(folder);
    return folder;
  }

  /** Starts a process on this data directory, by default on a free port. */
  spawn(args: readonly string[], dataDir: string, env: Environment = {}): FermataProcess {
    const started = new FermataProcess(args, { ...defaultsFor(dataDir), ...env }, tmpdir());
    this.processes.push(started);
    return started;
  }

  /** The same inside this process. */
  call(args: readonly string[], dataDir: string, env: Environment = {}, options: CallOptions = {}): FermataCall {
    const call = new FermataCall(args, { ...defaultsFor(dataDir), ...env }, options.cwd ?? tmpdir(), options);
    this.calls.push(call);
    return call;
  }

  /** Runs a command to completion, inside this process. */
  async command(args: readonly string[], dataDir: string, env: Environment = {}): Promise<CommandResult> {
    const call = this.call(args, dataDir, env);
    const code = await call.ended;
    return { code, stdout: call.stdout, stderr: call.stderr, json: <T>() => JSON.parse(call.stdout) as T };
  }

  /** The JSON document of a command that succeeds. */
  async json<T = Record<string, unknown>>(args: readonly string[], dataDir: string, env: Environment = {}): Promise<T> {
    const result = await this.command([...args, "--json"], dataDir, env);
    if (result.code !== 0) throw new Error(`fermata ${args.join(" ")} ended with ${result.code}: ${result.stderr}`);
    return result.json<T>();
  }

  async clear(): Promise<void> {
    await Promise.all(this.processes.splice(0).map((started) => started.kill()));
    await Promise.all(this.calls.splice(0).map((call) => call.stop()));
    await Promise.all(this.folders.splice(0).map((folder) => rm(folder, { recursive: true, force: true })));
  }
}

/** A sandbox for each test of the surrounding `describe`. */
export function useSandbox(): Sandbox {
  const sandbox = new Sandbox();
  afterEach(() => sandbox.clear());
  return sandbox;
}

/** Polls until there is a result: neither null nor undefined nor false. Fails after the bound. */
export async function eventually<T>(
  what: string,
  ask: () => T | Promise<T>,
  boundMs = BOUND_MS,
): Promise<Exclude<T, null | undefined | false>> {
  const endsAt = performance.now() + boundMs;
  for (;;) {
    const response = await ask();
    if (response !== null && response !== undefined && response !== false)
      return response as Exclude<T, null | undefined | false>;
    if (performance.now() > endsAt) throw new Error(`Not within ${boundMs} ms: ${what}`);
    await sleep(25);
  }
}

/** Every file below a folder, by its path in it, in order. */
export async function filesUnder(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}

function defaultsFor(dataDir: string): Environment {
  return { FERMATA_DATA_DIR: dataDir, FERMATA_HTTP__PORT: "0", FERMATA_PLUGINS__SYNTH__TEST_HOOKS: "true" };
}

/**
 * The environment variables that the machine needs, without any settings. tsx searches its settings in the working
 * directory by default.
 */
function ownEnvironment(): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("FERMATA_"));
  return { ...Object.fromEntries(inherited), TSX_TSCONFIG_PATH: repositoryPath("tsconfig.json") };
}
