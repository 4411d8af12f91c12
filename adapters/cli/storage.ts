import type { Command } from "commander";
import type { DueDeletion, StorageReport, TableGrowth } from "../../core/maintenance/report-storage.js";
import type { CliHost } from "./host.js";
import { addCommand, addGroup, iso, print, table, withApp, withProgress } from "./output.js";

interface ReportFlags {
  readonly audio?: boolean;
  readonly json?: boolean;
}

const DAY_MS = 86_400_000;

/** `storage …`. */
export function addStorageCommands(program: Command, host: CliHost): void {
  const storage = addGroup(program, "storage", "The database");
  addCommand(storage, "report", "Show how large each table is, how fast it grows, and what is due for deletion", [
    "storage report",
    "storage report --audio --json",
  ])
    .option("--audio", "go through the audio store too, which takes minutes where there are millions of files")
    .action(async ({ audio = false, ...options }: ReportFlags) => {
      const report = await withApp(host, (app) =>
        withProgress(host, "Reading the tables", () => app.storage.report({ withAudio: audio })),
      );
      print(host, options, presentReport(report), describeReport(report));
    });
}

function presentReport({ at, size, tables, areRowsEstimated, due, audio }: StorageReport): object {
  return {
    at: iso(at),
    bytes: size.bytes,
    free_bytes: size.freeBytes,
    rows_are_estimates: areRowsEstimated,
    tables: tables.map(({ name, rows, bytes, rowsPerDay, bytesPerDay }) => ({
      ...{ name, rows, bytes },
      ...{ rows_per_day: rowsPerDay, bytes_per_day: bytesPerDay },
    })),
    due: due.map((deletion) => ({
      what: deletion.kind,
      setting: deletion.setting,
      rows: deletion.rows,
      more: deletion.hasMore,
      oldest_at: iso(deletion.oldestAt),
      overdue_days: daysOf(deletion.overdueMs),
    })),
    audio,
  };
}

function describeReport({ size, tables, areRowsEstimated, due, audio }: StorageReport): string[] {
  return [
    `Database: ${shownBytes(size.bytes)}, of which ${shownBytes(size.freeBytes)} are free for what comes.`,
    ...(audio === null ? [] : [`Audio: ${audio.files} files, ${shownBytes(audio.bytes)}.`]),
    "",
    ...table(
      [["table", areRowsEstimated ? "rows, about" : "rows", "bytes", "rows/day", "bytes/day"]].concat(
        tables.map(rowOf),
      ),
    ),
    ...(tables.some(({ bytes }) => bytes === null)
      ? ["This build of the database does not say how large tables are."]
      : []),
    "",
    "Past its time, and deleted step by step by processes that work on jobs:",
    ...table([["what", "setting", "rows", "oldest", "overdue"], ...due.map(dueRowOf)]),
  ];
}

function rowOf({ name, rows, bytes, rowsPerDay, bytesPerDay }: TableGrowth): string[] {
  return [
    name,
    String(rows),
    shownBytes(bytes),
    rowsPerDay === null ? "-" : String(rowsPerDay),
    shownBytes(bytesPerDay),
  ];
}

function dueRowOf({ kind, setting, rows, hasMore, oldestAt, overdueMs }: DueDeletion): string[] {
  const shownRows = hasMore ? `more than ${rows}` : String(rows);
  return [kind, setting, shownRows, iso(oldestAt) ?? "-", rows === 0 ? "-" : `${daysOf(overdueMs)} days`];
}

function daysOf(ms: number): number {
  return Math.round((ms / DAY_MS) * 10) / 10;
}

const UNITS = ["bytes", "KiB", "MiB", "GiB", "TiB"] as const;

/** `1.5 GiB`; `-` where it is not known. */
function shownBytes(bytes: number | null): string {
  if (bytes === null) return "-";
  const unit = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10));
  const amount = bytes / 1024 ** unit;
  return `${unit === 0 ? amount : amount.toFixed(1)} ${UNITS[unit] ?? ""}`;
}
