import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";

export interface ProcessUsage {
  readonly residentBytes: number;
  /** Of all its threads since it started. */
  readonly cpuMs: number;
}

/** Measures what a process uses; null when it has ended or cannot be measured. */
export interface UsageReader {
  /** How often it may be asked, in milliseconds. */
  readonly intervalMs: number;
  read(pid: number): ProcessUsage | null | Promise<ProcessUsage | null>;
}

/** Linux reports times in hundredths of a second on every architecture that Node runs on (USER_HZ). */
const MS_PER_TICK = 10;
const KIB = 1024;

export const PROC_USAGE: UsageReader = {
  intervalMs: 50,
  read(pid) {
    try {
      const [, resident] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "latin1")) ?? [];
      const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
      // The name of the program comes second and may hold anything, a closing bracket too.
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      const ticks = Number(fields[11]) + Number(fields[12]);
      return resident === undefined ? null : { residentBytes: Number(resident) * KIB, cpuMs: ticks * MS_PER_TICK };
    } catch {
      return null;
    }
  },
};

const run = promisify(execFile);

/** For systems without /proc, such as macOS: `ps` of POSIX, asked less often since each call starts a process. */
export const PS_USAGE: UsageReader = {
  intervalMs: 500,
  async read(pid) {
    try {
      const { stdout } = await run("ps", ["-o", "rss=", "-o", "time=", "-p", String(pid)], {
        env: { PATH: "/bin:/usr/bin" },
      });
      const [resident, time] = stdout.trim().split(/\s+/);
      return resident === undefined || time === undefined
        ? null
        : { residentBytes: Number(resident) * KIB, cpuMs: millisecondsOf(time) };
    } catch {
      return null;
    }
  },
};

export const SYSTEM_USAGE: UsageReader = process.platform === "linux" ? PROC_USAGE : PS_USAGE;

/** `[[days-]hours:]minutes:seconds`, the seconds with hundredths on macOS. */
function millisecondsOf(time: string): number {
  const [clock = "", days = "0"] = time.split("-").reverse();
  const seconds = clock.split(":").reduce((sum, part) => sum * 60 + Number(part), 0);
  return (Number(days) * 86_400 + seconds) * 1_000;
}
