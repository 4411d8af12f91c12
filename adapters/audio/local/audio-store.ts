import { randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { lstat, mkdir, open, readdir, rename, rm, rmdir, stat, unlink } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { assert } from "../../../core/assert.js";
import { AudioTooLargeError, isAudioKey } from "../../../core/ports/audio-store.js";
import type { AudioStore, ListedAudio, StoredAudio } from "../../../core/ports/audio-store.js";

import { filesBehind } from "./files-in-order.js";

/** Where files grow before they get their name. No key begins with a dot, so nothing stored can lie there. */
const INCOMING = ".incoming";

/** A temporary file that was not written to for this long was left by a process that has ended. */
const LEFTOVER_AFTER_MS = 3_600_000;

const MOVE_ATTEMPTS_MAX = 10;

/** Tracks are private: no other user of the machine may read them, with any umask. */
const DIRECTORY_MODE = 0o700;
const FILE_MODE = 0o600;

/** Files under one directory. What has a name was written and flushed completely before it got it. */
export class LocalAudioStore implements AudioStore {
  private constructor(private readonly root: string) {}

  /** Makes the directory where it is missing, and clears away what interrupted writes have left in it. */
  static async open(directory: string): Promise<LocalAudioStore> {
    const store = new LocalAudioStore(resolve(directory));
    await mkdir(store.incoming, { recursive: true, mode: DIRECTORY_MODE });
    await removeLeftovers(store.incoming);
    return store;
  }

  async put(key: string, source: Uint8Array | AsyncIterable<Uint8Array>, maxBytes: number): Promise<StoredAudio> {
    const path = this.pathOf(key);
    const temporary = join(this.incoming, randomUUID());
    try {
      await writeDurably(temporary, source, maxBytes);
      await this.moveIntoPlace(temporary, path);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
    const stored = await this.stat(key);
    if (stored === null) throw new Error(`The audio ${key} was deleted while it was stored.`);
    return stored;
  }

  async stat(key: string): Promise<StoredAudio | null> {
    const found = await stat(this.pathOf(key), { bigint: true }).catch(nullIfMissing);
    if (found === null || !found.isFile()) return null;
    return {
      sizeBytes: Number(found.size),
      // Every write makes a new file, so the file's number changes even when two writes share one tick of its clock.
      etag: [found.ino, found.mtimeNs, found.size].map((part) => part.toString(36)).join("-"),
      modifiedAt: Number(found.mtimeMs),
    };
  }

  async *read(key: string, range?: { readonly start: number; readonly end: number }): AsyncIterable<Uint8Array> {
    // Opened at the first read: a stream without a reader would keep its file open.
    yield* createReadStream(this.pathOf(key), range) as AsyncIterable<Uint8Array>;
  }

  async deleteAll(prefix: string): Promise<void> {
    const path = this.pathOf(prefix);
    const found = await lstat(path).catch(nullIfMissing);
    // A file of exactly this name is a key of its own, not one under it.
    if (found?.isDirectory()) await rm(path, { recursive: true, force: true, maxRetries: 3 });
  }

  async delete(key: string): Promise<void> {
    const path = this.pathOf(key);
    const found = await lstat(path).catch(nullIfMissing);
    if (found === null || found.isDirectory()) return;
    await unlink(path).catch(nullIfMissing);
    // Directories that are empty now go with it. One that gets a file at this moment stays, or that write creates it
    // again.
    for (let above = dirname(path); above !== this.root; above = dirname(above)) {
      const isRemoved = await rmdir(above).then(
        () => true,
        () => false,
      );
      if (!isRemoved) return;
    }
  }

  async list(after: string | null, limit: number): Promise<ListedAudio[]> {
    const listed: ListedAudio[] = [];
    for await (const key of filesBehind(this.root, after)) {
      if (listed.length >= limit) break;
      if (!isAudioKey(key)) continue;
      const found = await stat(this.pathOf(key)).catch(nullIfMissing);
      if (found === null || !found.isFile()) continue;
      listed.push({ key, sizeBytes: found.size, modifiedAt: Math.trunc(found.mtimeMs) });
    }
    return listed;
  }

  /** Throws when nothing can be written, naming why. */
  async check(): Promise<void> {
    const path = join(this.incoming, randomUUID());
    try {
      await writeDurably(path, Uint8Array.of(1), 1);
    } catch (cause) {
      throw new Error(`The audio directory ${this.root} cannot be written to: ${(cause as Error).message}`, { cause });
    } finally {
      await rm(path, { force: true });
    }
  }

  private get incoming(): string {
    return join(this.root, INCOMING);
  }

  private pathOf(key: string): string {
    assert(isAudioKey(key), "an audio key is lower-case segments of letters, digits, _, - and .");
    return join(this.root, ...key.split("/"));
  }

  private async moveIntoPlace(temporary: string, path: string): Promise<void> {
    const directory = dirname(path);
    let firstMade: string | undefined;
    for (let left = MOVE_ATTEMPTS_MAX; ; left--) {
      try {
        firstMade = (await mkdir(directory, { recursive: true, mode: DIRECTORY_MODE })) ?? firstMade;
        await rename(temporary, path);
        break;
      } catch (error) {
        // A `deleteAll` may take the directory away in between.
        if (left <= 1 || (error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      }
    }
    for (const changed of directoriesToSync(directory, firstMade)) await syncDirectory(changed);
  }
}

async function writeDurably(
  path: string,
  source: Uint8Array | AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<void> {
  const file = await open(path, "wx", FILE_MODE);
  try {
    await writeAtMost(file, source instanceof Uint8Array ? [source] : source, maxBytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function writeAtMost(
  file: FileHandle,
  chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<void> {
  let sizeBytes = 0;
  for await (const chunk of chunks) {
    sizeBytes += chunk.byteLength;
    if (sizeBytes > maxBytes) throw new AudioTooLargeError(maxBytes);
    await file.writeFile(chunk); // on a handle: from where it stands, and never only a part
  }
}

async function removeLeftovers(incoming: string): Promise<void> {
  const names = await readdir(incoming);
  const now = names.length === 0 ? null : await filesystemTime(incoming);
  if (now === null) return;
  const oldest = now - LEFTOVER_AFTER_MS;
  for (const name of names) {
    const path = join(incoming, name);
    const found = await lstat(path).catch(nullIfMissing);
    if (found !== null && found.mtimeMs < oldest) await rm(path, { recursive: true, force: true });
  }
}

/**
 * The clock that dates the files there, which on a shared mount is another machine's, in milliseconds since 1970.
 *
 * @returns null where this process may not write
 */
async function filesystemTime(directory: string): Promise<number | null> {
  const path = join(directory, randomUUID());
  const file = await open(path, "wx").catch(() => null);
  if (file === null) return null;
  try {
    return (await file.stat()).mtimeMs;
  } finally {
    await file.close();
    await rm(path, { force: true });
  }
}

/** The file's own directory, and those above it that got a new entry. */
function directoriesToSync(directory: string, firstMade: string | undefined): string[] {
  const changed = [directory];
  if (firstMade === undefined) return changed;
  for (let above = directory; above !== dirname(firstMade) && above !== dirname(above);) {
    above = dirname(above);
    changed.push(above);
  }
  return changed;
}

async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, "r").catch(nullIfMissing);
  if (handle === null) return;
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** ENOTDIR: there is a file where the key has a directory, so there is nothing under it either. */
function nullIfMissing(error: NodeJS.ErrnoException): null {
  if (error.code === "ENOENT" || error.code === "ENOTDIR") return null;
  throw error;
}
