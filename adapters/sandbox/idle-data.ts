import { execFileSync } from "node:child_process";
import { HEAP_MAX_MIB } from "./limits.js";

/** Of Node 20, where it cannot be measured; the kernels without /proc do not enforce the limit of data. */
const DEFAULT_BYTES = 48 * 1024 * 1024;
const READ = 'process.stdout.write(require("node:fs").readFileSync("/proc/self/status", "latin1"))';

let measured: number | null = null;

/**
 * Writable private memory of a process of this runtime that does nothing, which a child measures once. Later versions
 * of V8 reserve half a GiB for code there.
 */
export function idleDataBytes(): number {
  return (measured ??= dataBytesOf(process.execPath) ?? DEFAULT_BYTES);
}

/** @returns null where it cannot be measured */
export function dataBytesOf(node: string): number | null {
  try {
    const status = execFileSync(node, [`--max-old-space-size=${HEAP_MAX_MIB}`, "-e", READ], {
      env: {},
      encoding: "latin1",
      stdio: ["ignore", "pipe", "ignore"],
      timeout: 10_000,
    });
    const [, kib] = /^VmData:\s+(\d+) kB$/m.exec(status) ?? [];
    return kib === undefined ? null : Number(kib) * 1024;
  } catch {
    return null;
  }
}
