import { createHmac, randomBytes } from "node:crypto";
import { link, mkdir, open, readFile, rm } from "node:fs/promises";
import { join } from "node:path";

/** The shortest key that is taken, in characters. */
export const SECRET_KEY_LENGTH_MIN = 32;

/** Its name in the data directory. */
export const SECRET_KEY_FILE = "secret.key";

/**
 * The key in `secret.key` of the data directory, made there (mode 0600, 256 random bits) when there is none. Processes that start
 * together get the same key.
 *
 * @throws {Error} the file cannot be read or written, or holds fewer than 32 characters; nothing was changed
 */
export async function loadOrCreateSecretKey(dataDir: string): Promise<string> {
  const path = join(dataDir, SECRET_KEY_FILE);
  try {
    return (await readKey(path)) ?? (await createKey(dataDir, path));
  } catch (cause) {
    throw new Error(`The secret key ${path} cannot be used (${messageOf(cause)}). Repair it, or set secrets.key.`, { cause });
  }
}

/** What may be stored and shown to recognise a key; it says nothing about the key itself. */
export function fingerprint(key: string): string {
  return createHmac("sha256", key).update("fermata secret key fingerprint").digest("hex").slice(0, 16);
}

async function readKey(path: string): Promise<string | null> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  if (text === null) return null;
  const key = text.trim();
  if (key.length < SECRET_KEY_LENGTH_MIN) throw new Error(`it holds fewer than ${SECRET_KEY_LENGTH_MIN} characters`);
  return key;
}

async function createKey(dataDir: string, path: string): Promise<string> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const temporary = `${path}.${randomBytes(8).toString("hex")}`;
  try {
    const file = await open(temporary, "wx", 0o600);
    try {
      await file.writeFile(`${randomBytes(32).toString("base64url")}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    // A link appears whole and never replaces: of several processes one wins, and all read what it wrote.
    await link(temporary, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
  } finally {
    await rm(temporary, { force: true });
  }
  await syncDirectory(dataDir);
  const key = await readKey(path);
  if (key === null) throw new Error("it vanished while it was made");
  return key;
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
