import { type ChildProcess, spawn, type SpawnOptions } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";
import { idleDataBytes } from "./idle-data.js";
import { HEAP_MAX_MIB, type SandboxLimits, START_CPU_SECONDS, UNTOUCHED_BYTES } from "./limits.js";

const SHELL = "/bin/sh";
/**
 * Sets what the kernel enforces, then becomes the program. The limit of data (RLIMIT_DATA) counts writable private
 * memory, that of WebAssembly included, and not the address space that V8 reserves: a limit of address space would have
 * to be above 20 GB.
 */
const LIMITED = 'ulimit -c 0; ulimit -d "$1"; ulimit -t "$2"; shift 2; exec "$@"';

const isSource = import.meta.url.endsWith(".ts");

/**
 * Starts a process that runs the module at `handler`: without environment, console, terminal or session of its parent,
 * and with the kernel's limits where there is a POSIX shell to set them. It ends when its parent does.
 */
export function startProcess(handler: URL, { memoryBytes, cpuMs }: SandboxLimits): ChildProcess {
  const entry = fileURLToPath(new URL(isSource ? "./child.ts" : "./child.js", import.meta.url));
  const command = [process.execPath, `--max-old-space-size=${HEAP_MAX_MIB}`, ...loader(), entry, handler.href];
  const options: SpawnOptions = {
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    serialization: "advanced",
    env: process.platform === "win32" ? { SystemRoot: process.env["SystemRoot"] } : {},
    // Ctrl-C reaches every process of a terminal's session, and the parent still wants its replies while it drains.
    detached: true,
  };
  const [program, ...args] = existsSync(SHELL) ? [SHELL, ...limited(command, memoryBytes, cpuMs)] : command;
  return spawn(program as string, args, options);
}

function limited(command: readonly string[], memoryBytes: number, cpuMs: number): string[] {
  const dataKib = Math.ceil((memoryBytes + idleDataBytes() + UNTOUCHED_BYTES) / 1024);
  // Of the whole process, against a loop whose watchdog died: a process that has used what one task may take is
  // replaced after that task.
  const cpuSeconds = Math.ceil((2 * cpuMs) / 1_000) + START_CPU_SECONDS;
  return ["-c", LIMITED, "sh", String(dataKib), String(cpuSeconds), ...command];
}

/** Sources need tsx, in tests and development. */
function loader(): string[] {
  if (!isSource) return [];
  return ["--import", pathToFileURL(createRequire(import.meta.url).resolve("tsx/esm")).href];
}
