import { createWriteStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { crc32 } from "node:zlib";
import { type Entry, openPromise, type ZipFile } from "yauzl";
import { ProviderFailure } from "../../core/ports/music-provider.js";

/** More files than a provider ever puts into one archive. */
const ENTRIES_MAX = 10_000;

/** Compression methods that are read: none, and deflate. */
const STORED = 0;
const DEFLATED = 8;

const NAME_LENGTH_MAX = 100;

export interface ZipOptions {
  /** Where the archive lies while it is read; a name of its own below it is gone afterwards. */
  readonly folder: string;
  /** Of the entry. */
  readonly maxBytes: number;
}

/**
 * One file of a ZIP: of exactly this name with its path, else of this name in whatever folder. The archive is stored first, since its table
 * of contents is at its end. Nothing is written under the names it holds.
 *
 * @throws {ProviderFailure} `failed`: it is no ZIP, has no such entry, or one that is encrypted or too large; and what `archive` throws
 */
export async function entryOf(
  archive: AsyncIterable<Uint8Array>,
  name: string,
  { folder, maxBytes }: ZipOptions,
): Promise<AsyncIterable<Uint8Array>> {
  const own = await mkdtemp(join(folder, "fermata-archive-"));
  const path = join(own, "archive.zip");
  let zip: ZipFile | null = null;
  try {
    await pipeline(archive, createWriteStream(path, { mode: 0o600 }));
    zip = await openZip(path);
    const entry = await find(zip, name);
    check(entry, name, maxBytes);
    return new OpenEntry(read(zip, entry, name), zip, own);
  } catch (error) {
    await discard(zip, own);
    throw error;
  }
}

async function openZip(path: string): Promise<ZipFile> {
  try {
    return await openPromise(path, { lazyEntries: true, autoClose: false });
  } catch (cause) {
    throw new ProviderFailure("failed", "It is no ZIP that can be read.", { cause });
  }
}

async function find(zip: ZipFile, name: string): Promise<Entry> {
  let alike: Entry | null = null;
  if (zip.entryCount > ENTRIES_MAX) throw new ProviderFailure("failed", `The ZIP has more than ${ENTRIES_MAX} entries.`);
  try {
    for await (const entry of zip.eachEntry()) {
      if (entry.fileName === name) return entry;
      if (baseNameOf(entry.fileName) === baseNameOf(name)) alike ??= entry;
    }
  } catch (cause) {
    throw new ProviderFailure("failed", "The table of contents of the ZIP cannot be read.", { cause });
  }
  if (alike === null) throw new ProviderFailure("failed", `The ZIP has no ${shown(name)}.`);
  return alike;
}

/** A folder's name ends with a slash, and so has no base name that a file could have. */
function baseNameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function check(entry: Entry, name: string, maxBytes: number): void {
  const refuse = (words: string): never => {
    throw new ProviderFailure("failed", `The ${shown(name)} of the ZIP ${words}.`);
  };
  if (entry.fileName.endsWith("/")) refuse("is a folder");
  if (entry.isEncrypted()) refuse("is encrypted");
  if (entry.compressionMethod !== STORED && entry.compressionMethod !== DEFLATED)
    refuse(`is compressed by a method that is not read (${entry.compressionMethod})`);
  if (entry.uncompressedSize > maxBytes) refuse(`is larger than ${maxBytes} bytes`);
}

async function* read(zip: ZipFile, entry: Entry, name: string): AsyncGenerator<Uint8Array> {
  let sum = 0;
  try {
    // It ends with an error when there is more, or less, than the table of contents says.
    for await (const chunk of (await zip.openReadStreamPromise(entry)) as AsyncIterable<Buffer>) {
      sum = crc32(chunk, sum);
      yield chunk;
    }
  } catch (cause) {
    throw new ProviderFailure("failed", `The ${shown(name)} of the ZIP cannot be unpacked.`, { cause });
  }
  if (sum !== entry.crc32) throw new ProviderFailure("failed", `The ${shown(name)} of the ZIP is damaged.`);
}

function shown(name: string): string {
  return JSON.stringify(name.slice(0, NAME_LENGTH_MAX));
}

async function discard(zip: ZipFile | null, folder: string): Promise<void> {
  zip?.close();
  await rm(folder, { recursive: true, force: true });
}

/** Deletes the archive when it is read to its end, fails or is closed, even before anything was read. */
class OpenEntry implements AsyncIterableIterator<Uint8Array> {
  constructor(
    private readonly bytes: AsyncGenerator<Uint8Array>,
    private readonly zip: ZipFile,
    private readonly folder: string,
  ) {}

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Uint8Array>> {
    try {
      const next = await this.bytes.next();
      if (next.done === true) await discard(this.zip, this.folder);
      return next;
    } catch (error) {
      await discard(this.zip, this.folder);
      throw error;
    }
  }

  async return(): Promise<IteratorResult<Uint8Array>> {
    try {
      return await this.bytes.return(undefined);
    } finally {
      await discard(this.zip, this.folder);
    }
  }
}
