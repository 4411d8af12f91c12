/**
 * What the process that reads ZIPs runs: it finds one file in one archive at a time, and gives its bytes as it is asked
 * for them.
 */
import { crc32 } from "node:zlib";
import { type Entry, openPromise, type ZipFile } from "yauzl";
import { assert } from "../../core/assert.js";
import { ProviderFailure } from "../../core/ports/music-provider.js";
import type { ZipReply, ZipRequest } from "./zip-messages.js";

/** More files than a provider ever puts into one archive. */
const ENTRIES_MAX = 10_000;

/** Compression methods that are read: none, and deflate. */
const STORED = 0;
const DEFLATED = 8;

const NAME_LENGTH_MAX = 100;

let zip: ZipFile | null = null;
let bytes: AsyncGenerator<Uint8Array> | null = null;

export async function handle(request: ZipRequest): Promise<ZipReply> {
  try {
    return request.kind === "open" ? await open(request) : await next();
  } catch (error) {
    close();
    if (ProviderFailure.is(error)) return { kind: "refused", message: error.message };
    throw error;
  }
}

async function open({ path, name, maxBytes }: Extract<ZipRequest, { kind: "open" }>): Promise<ZipReply> {
  zip = await openZip(path);
  const entry = await find(zip, name);
  check(entry, name, maxBytes);
  bytes = read(zip, entry, name);
  return { kind: "opened" };
}

async function next(): Promise<ZipReply> {
  assert(bytes !== null, "bytes are read from an open archive");
  const chunk = await bytes.next();
  if (chunk.done !== true) return { kind: "bytes", bytes: chunk.value };
  close();
  return { kind: "end" };
}

function close(): void {
  zip?.close();
  zip = null;
  bytes = null;
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
  if (zip.entryCount > ENTRIES_MAX)
    throw new ProviderFailure("failed", `The ZIP has more than ${ENTRIES_MAX} entries.`);
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
