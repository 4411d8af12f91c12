import { access, constants, stat, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { failed, type CheckResult, ok, warning } from "../../../../core/ports/self-check.js";
import type { KnexDatabase } from "../database.js";
import { isDriverUnusable, REBUILD_DRIVER } from "../sqlite/errors.js";

/** By the number that `statfs` knows them by. SQLite's locks and shared memory cannot be relied on there. */
const NETWORK_FILESYSTEMS: Readonly<Record<number, string>> = {
  0x6969: "NFS",
  0x517b: "SMB",
  0xfe534d42: "SMB",
  0xff534d42: "CIFS",
  0x00c36400: "Ceph",
  0x01021997: "9p",
  0x5346414f: "AFS",
  0x65735546: "FUSE",
};

/** Why there is no file to look at or to work on; null when there is. */
export async function refuseSqliteFile(path: string): Promise<CheckResult | null> {
  const name = "sqlite file";
  if (path === ":memory:")
    return warning(name, "The database is in memory: it ends with the process.", "Set storage.url to a file.");
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => (error.code === "ENOENT" ? null : error));
  if (found === null)
    return failed(name, `There is no database at ${path} yet.`, "Run `fermata migrate`, or `fermata start`.");
  if (found instanceof Error)
    return failed(name, `${path} cannot be looked at: ${found.message}.`, rightsTo(dirname(path)));
  for (const [place, mode] of [
    [path, constants.R_OK | constants.W_OK],
    [dirname(path), constants.W_OK | constants.X_OK],
  ] as const) {
    const refusal = await access(place, mode).then(
      () => null,
      (error: Error) => error,
    );
    if (refusal !== null) return failed(name, `${place} cannot be written: ${refusal.message}.`, rightsTo(place));
  }
  return null;
}

export async function checkSqlite(database: KnexDatabase, path: string): Promise<CheckResult[]> {
  return [
    await checkFile(path),
    await checkMode(database),
    await checkWrites(database),
    classifyFilesystem(path, (await statfs(path)).type),
  ];
}

async function checkFile(path: string): Promise<CheckResult> {
  const name = "sqlite file";
  const open: string[] = [];
  for (const file of [path, `${path}-wal`, `${path}-shm`]) {
    const found = await stat(file).catch(nullIfMissing);
    if (found !== null && (found.mode & 0o077) !== 0) open.push(file);
  }
  if (open.length > 0) {
    const message = `Other users of this machine may read or change ${open.join(", ")}.`;
    return failed(name, message, `\`chmod 600 ${open.join(" ")}\``);
  }
  const { size } = await stat(path);
  return ok(name, `${path} has ${(size / 1024 / 1024).toFixed(1)} MiB.`);
}

async function checkMode(database: KnexDatabase): Promise<CheckResult> {
  const version = await one(database, "SELECT sqlite_version() AS value");
  const journal = await one(database, "SELECT journal_mode AS value FROM pragma_journal_mode");
  return classifyMode(
    version,
    journal,
    Number(await one(database, "SELECT synchronous AS value FROM pragma_synchronous")),
  );
}

/** @param synchronous 2 and above: a commit waits until it is on disk */
export function classifyMode(version: string, journal: string, synchronous: number): CheckResult {
  const name = "sqlite mode";
  if (journal !== "wal") {
    const message = `SQLite ${version} keeps the journal mode ${journal}: readers and writers wait for each other.`;
    return failed(name, message, "Put the file on a local filesystem.");
  }
  if (synchronous < 2)
    return failed(name, "A commit is not flushed: a power cut can undo it.", "Use the SQLite that comes with Fermata.");
  return ok(name, `SQLite ${version}, write-ahead log, flushed at each commit.`);
}

/** @param error what opening or reading the file said */
export function classifySqliteRefusal(path: string, error: unknown): CheckResult {
  const message = error instanceof Error ? error.message : String(error);
  if (isDriverUnusable(error))
    return failed("sqlite driver", message.replace(` ${REBUILD_DRIVER}`, ""), REBUILD_DRIVER);
  const isLocked = /locked|busy/i.test(message);
  const fix = isLocked
    ? `End the process that holds it: \`fuser ${path}\` names it.`
    : "Restore the file from a backup.";
  return failed("sqlite file", `${message.replace(/\.$/, "")}.`, fix);
}

/** Takes the write lock and gives it back. */
async function checkWrites(database: KnexDatabase): Promise<CheckResult> {
  const name = "sqlite writes";
  try {
    await database.transaction(() => Promise.resolve());
    return ok(name, "The write lock can be taken.");
  } catch (error) {
    const message = `The write lock cannot be taken: ${(error as Error).message}.`;
    return failed(
      name,
      message,
      "End the process that holds it (`fuser` on the file names it), or make the filesystem writable.",
    );
  }
}

/** @param type as `statfs` has it */
export function classifyFilesystem(path: string, type: number): CheckResult {
  const name = "sqlite filesystem";
  const network = NETWORK_FILESYSTEMS[type];
  if (network === undefined) return ok(name, "The file is on no network filesystem that is known.");
  const message = `${path} is on ${network}, where SQLite's locks cannot be relied on: the file can be destroyed.`;
  return warning(name, message, "Set dataDir or storage.url to a local disk, or use MySQL.");
}

/** SQLite's companion files are there only while the database is used. */
function nullIfMissing(error: NodeJS.ErrnoException): null {
  if (error.code === "ENOENT") return null;
  throw error;
}

async function one(database: KnexDatabase, sql: string): Promise<string> {
  const [row] = await database.reading((session) => session.all<{ value: string | number }>(sql));
  return String(row?.value);
}

function rightsTo(place: string): string {
  return `Make it writable for the user that Fermata runs as: \`chown -R USER ${place}\``;
}
