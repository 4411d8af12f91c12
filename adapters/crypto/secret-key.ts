import { createHmac, randomBytes } from "node:crypto";
import { link, mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";

/** The shortest key that is taken, in characters. */
export const SECRET_KEY_LENGTH_MIN = 32;

/** Its name in the data directory. */
export const SECRET_KEY_FILE = "secret.key";

/** A key may be wrapped over several lines, as `openssl rand -base64 64` writes it; an empty line ends it. */
const BETWEEN_KEYS = /\n\s*\n/;

/**
 * The keys in `secret.key` of the data directory. When there is none, one is created there (mode 0600, 256 random
 * bits). Processes that start together get the same key.
 *
 * @throws {Error} the file cannot be read or written, or holds fewer than 32 characters; nothing was changed
 */
export async function loadOrCreateSecretKeys(dataDir: string): Promise<readonly string[]> {
  const path = join(dataDir, SECRET_KEY_FILE);
  try {
    return (await readKeys(path)) ?? (await createKey(dataDir, path));
  } catch (cause) {
    throw new Error(`The secret key ${path} cannot be used (${messageOf(cause)}). Repair it, or set secrets.key.`, {
      cause,
    });
  }
}

/** Replaces the file by one that holds these keys, in this order: a reader sees all of the old or all of the new. */
export async function replaceSecretKeys(dataDir: string, keys: readonly string[]): Promise<void> {
  const path = join(dataDir, SECRET_KEY_FILE);
  await withTemporary(path, keys, (temporary) => rename(temporary, path));
  await syncDirectory(dataDir);
}

export function newSecretKey(): string {
  return randomBytes(32).toString("base64url");
}

/** The keys that the text of a key file holds. @throws {Error} one is too short; the message holds no key */
export function parseSecretKeys(text: string): readonly string[] {
  const keys = text
    .trim()
    .split(BETWEEN_KEYS)
    .map((key) => key.trim());
  if (keys.some((key) => key.length < SECRET_KEY_LENGTH_MIN)) {
    throw new Error(`it holds fewer than ${SECRET_KEY_LENGTH_MIN} characters`);
  }
  return keys;
}

/** The id of a key: what may be stored and shown to recognise it; it says nothing about the key itself. */
export function fingerprint(key: string): string {
  return createHmac("sha256", key).update("fermata secret key fingerprint").digest("hex").slice(0, 16);
}

async function readKeys(path: string): Promise<readonly string[] | null> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  return text === null ? null : parseSecretKeys(text);
}

async function createKey(dataDir: string, path: string): Promise<readonly string[]> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  await withTemporary(path, [newSecretKey()], (temporary) =>
    // A link appears whole and never replaces: of several processes one wins, and all read what it wrote.
    link(temporary, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    }),
  );
  await syncDirectory(dataDir);
  const keys = await readKeys(path);
  if (keys === null) throw new Error("it vanished while it was created");
  return keys;
}

/** @param publish gives the file, written and flushed, its name */
async function withTemporary(
  path: string,
  keys: readonly string[],
  publish: (temporary: string) => Promise<void>,
): Promise<void> {
  const temporary = `${path}.${randomBytes(8).toString("hex")}`;
  try {
    const file = await open(temporary, "wx", 0o600);
    try {
      await file.writeFile(`${keys.join("\n\n")}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await publish(temporary);
  } finally {
    await rm(temporary, { force: true });
  }
}

/** A key that is lost in a power cut would make all that it sealed unreadable. */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
