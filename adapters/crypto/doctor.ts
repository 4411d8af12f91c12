import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { failed, type CheckResult, ok, warning } from "../../core/ports/self-check.js";
import { fingerprint, parseSecretKeys, SECRET_KEY_FILE, SECRET_KEY_LENGTH_MIN } from "./secret-key.js";

export interface SecretKeyCheckOptions {
  /** `secrets.key`, or null when the key is in the data directory. */
  readonly given: string | null;
  /** `secrets.previousKey`. */
  readonly givenToo?: string | null;
  readonly dataDir: string;
  /** The id of the key that is in force in the storage; null while that is not known. */
  readonly kept: string | null;
  /** Whether processes on several machines may use the storage. */
  readonly isShared: boolean;
}

const NAME = "secret key";
const SET_IT = "Set FERMATA_SECRETS__KEY to the same text for every process; `openssl rand -base64 33` makes one.";

/** Checks that the key exists, is private and fits the storage. Creates none: the doctor's user would own it. */
export async function checkSecretKey(question: SecretKeyCheckOptions): Promise<CheckResult> {
  const given = [question.given, question.givenToo ?? null].filter((key) => key !== null);
  if (given.length > 0) return classifyKeys(given, "secrets.key", question);
  const path = join(question.dataDir, SECRET_KEY_FILE);
  try {
    return await checkFile(path, question);
  } catch (error) {
    if (isMissing(error)) return classifyMissing(path, question);
    return failed(
      NAME,
      `${path} cannot be read: ${(error as Error).message}.`,
      `Give it to the user that Fermata runs as, or set secrets.key.`,
    );
  }
}

async function checkFile(path: string, question: SecretKeyCheckOptions): Promise<CheckResult> {
  const { mode } = await stat(path);
  const rights = mode & 0o777;
  if ((rights & 0o077) !== 0) {
    return failed(
      NAME,
      `${path} has the rights ${rights.toString(8)}: others on this machine may read it or change it.`,
      `\`chmod 600 ${path}\``,
    );
  }
  const keys = keysIn(await readFile(path, "utf8"));
  if (keys === null) {
    return failed(
      NAME,
      `${path} holds fewer than ${SECRET_KEY_LENGTH_MIN} characters.`,
      "Restore the file from a backup.",
    );
  }
  const found = classifyKeys(keys, path, question);
  if (found.result !== "ok" || !question.isShared) return found;
  return warning(
    NAME,
    `It is in ${path} of this machine; a process on another machine would create its own, and be refused.`,
    `${SET_IT} Here that is the text of the file.`,
  );
}

function keysIn(text: string): readonly string[] | null {
  try {
    return parseSecretKeys(text);
  } catch {
    return null; // the one thing that can be wrong with it is its length
  }
}

function classifyKeys(keys: readonly string[], place: string, { kept }: SecretKeyCheckOptions): CheckResult {
  if (kept === null || keys.some((key) => kept === fingerprint(key)))
    return ok(NAME, kept === null ? `It is in ${place}.` : `It is in ${place}, and the storage's.`);
  const message =
    `The key in ${place} is not the one this storage was first opened with: links and stored ` +
    `secrets would be dead.`;
  const fix =
    place === "secrets.key"
      ? "Set that key again, from a backup or from another process."
      : "secrets.key is not set: set it (FERMATA_SECRETS__KEY) to that key, or restore the file.";
  return failed(NAME, message, fix);
}

function classifyMissing(path: string, { kept, isShared }: SecretKeyCheckOptions): CheckResult {
  if (kept !== null) {
    return failed(
      NAME,
      `${path} is missing, and the storage was opened with a key before.`,
      "Restore it from a backup, or set secrets.key to that key.",
    );
  }
  if (isShared)
    return warning(NAME, "There is none: every machine would make its own, and all but the first be refused.", SET_IT);
  return ok(NAME, `${path} is created at the first start.`);
}

/** ENOTDIR: another check reports the data directory. */
function isMissing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "ENOENT" || code === "ENOTDIR";
}
