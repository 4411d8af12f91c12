import { randomUUID } from "node:crypto";
import { access, constants, open, rm, stat, statfs } from "node:fs/promises";
import { dirname, join } from "node:path";
import { failed, type CheckResult, ok, warning } from "../../core/ports/self-check.js";
import { OPEN_TO_OTHERS } from "./private-directory.js";
import { measureStorageTime, OFFSET_MAX_MS } from "./storage-clock.js";

/** By the number that `statfs` knows them by. */
const FLEETING_FILESYSTEMS: Readonly<Record<number, string>> = {
  0x01021994: "in memory, and gone after a restart",
  0x858458f6: "in memory, and gone after a restart",
  0x794c7630: "in a layer of a container, and gone with it",
};

/** Below this, the check warns. */
const FREE_BYTES_MIN = 1024 ** 3;

export interface FolderCheckOptions {
  /** The name of the check result. */
  readonly name: string;
  readonly path: string;
  /** The setting that chooses another one. */
  readonly setting: string;
  /** The largest file that may have to fit in. */
  readonly fileMaxBytes: number;
  /** Whether all that is in it is Fermata's, so that other users of the machine have no business there. */
  readonly isPrivate: boolean;
}

/**
 * Whether files can be written there, stay there and fit in. Creates none: the doctor's user would own it.
 *
 * @param write writes a file to a folder and deletes it
 */
export async function checkFolder(
  question: FolderCheckOptions,
  write: (folder: string) => Promise<void> = tryToWrite,
): Promise<readonly CheckResult[]> {
  const { name, path, setting, isPrivate } = question;
  let space: readonly CheckResult[] = [];
  try {
    const place = await nearest(path);
    const { bavail, bsize, type } = await statfs(place);
    const about = await stat(place);
    if (about.isDirectory()) space = [classifySpace({ ...question, name: `${name} space` }, bavail * bsize)];
    await (place === path ? write(path) : access(place, constants.W_OK | constants.X_OK));
    const found = place === path ? `${path} can be written` : `${path} is created at the first start`;
    const rights = isPrivate && place === path ? checkPrivacy(name, path, about.mode) : null;
    return [
      rights ??
        classifyOwner(name, path, about.uid, process.getuid?.() ?? -1) ??
        classifyFilesystem(name, found, type, setting),
      ...space,
    ];
  } catch (error) {
    return [classifyWriteError(question, error as NodeJS.ErrnoException), ...space];
  }
}

function classifyWriteError({ name, path, setting }: FolderCheckOptions, error: NodeJS.ErrnoException): CheckResult {
  const message = `${path} (${setting}) cannot be written: ${error.message}.`;
  return failed(name, message, `${writeFix(error.code, path)}, or set ${setting} to another place.`);
}

function writeFix(code: string | undefined, path: string): string {
  switch (code) {
    case "ENOSPC":
      return `Its disk has no room for another file: make some (\`df -h ${path}\`, \`df -i ${path}\`)`;
    case "EDQUOT":
      return "The quota of the user that Fermata runs as is used up: raise it or make room";
    case "EROFS":
      return `Its filesystem is mounted read-only: mount it read-write (\`findmnt -T ${path}\` names it)`;
    default:
      return `Give it to the user that Fermata runs as (\`chown -R USER ${path}\`)`;
  }
}

/** @param mode as `stat` has it. @returns null when it is closed to group and others */
export function checkPrivacy(name: string, path: string, mode: number): CheckResult | null {
  if ((mode & OPEN_TO_OTHERS) === 0) return null;
  const rights = (mode & 0o777).toString(8);
  const message = `${path} has the rights ${rights}: other users of this machine may read or change what is in it.`;
  return failed(name, message, `\`chmod 700 ${path}\``);
}

/** @returns null when the doctor appears to run as the user that will write */
export function classifyOwner(name: string, path: string, owner: number, user: number): CheckResult | null {
  if (user !== 0 || owner === 0) return null;
  const message =
    `${path} belongs to the user ${owner}, and root may write anywhere: what that user ` + `may do was not seen.`;
  return warning(name, message, `Run doctor as the user that Fermata runs as: \`sudo -u '#${owner}' fermata doctor\``);
}

export function classifyFilesystem(name: string, found: string, type: number, setting: string): CheckResult {
  const fleeting = FLEETING_FILESYSTEMS[type];
  if (fleeting === undefined) return ok(name, `${found}.`);
  return warning(
    name,
    `${found}, but is ${fleeting}.`,
    `Mount a disk or a volume there, or set ${setting} to another place.`,
  );
}

export function classifySpace(
  { name, path, setting, fileMaxBytes }: FolderCheckOptions,
  freeBytes: number,
): CheckResult {
  const message = `${gib(freeBytes)} GiB are free in ${path}.`;
  const fix = `Make room, or set ${setting} to another disk.`;
  if (freeBytes < fileMaxBytes) return failed(name, `${message} One file may need ${gib(fileMaxBytes)} GiB.`, fix);
  return freeBytes < FREE_BYTES_MIN ? warning(name, message, fix) : ok(name, message);
}

export interface ClockCheckOptions {
  readonly readStorageTime: () => Promise<number>;
  /** This machine's clock. */
  readonly wall: () => number;
}

/** How far this machine's clock is from the storage's. Fails as the reading does. */
export async function checkClock({ readStorageTime, wall }: ClockCheckOptions): Promise<CheckResult> {
  const { time, at } = await measureStorageTime(readStorageTime, () => performance.now());
  return classifyClock(wall() - time - (performance.now() - at));
}

function classifyClock(aheadMs: number): CheckResult {
  const name = "clock";
  const offMs = Math.abs(aheadMs);
  if (offMs <= OFFSET_MAX_MS) {
    return ok(name, `This machine's clock and the storage's agree to ${Math.ceil(offMs)} ms.`);
  }
  const off = `${(offMs / 1000).toFixed(1)} s ${aheadMs > 0 ? "ahead of" : "behind"}`;
  return warning(
    name,
    `This machine's clock is ${off} the storage's. What is stored goes by the storage's; log lines and ` +
      `certificates do not.`,
    "Run a time service on every machine, the database's too: `apt-get install chrony`, then `chronyc tracking`.",
  );
}

/** The folder itself, or the one above it that is there. */
async function nearest(path: string): Promise<string> {
  try {
    await stat(path);
    return path;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT" || dirname(path) === path) throw error;
    return nearest(dirname(path));
  }
}

async function tryToWrite(folder: string): Promise<void> {
  const path = join(folder, `.doctor-${randomUUID()}`);
  try {
    const file = await open(path, "wx");
    try {
      await file.writeFile("written");
      await file.sync();
    } finally {
      await file.close();
    }
  } finally {
    await rm(path, { force: true });
  }
}

function gib(bytes: number): string {
  return (bytes / 1024 ** 3).toFixed(1);
}
