import { tmpdir } from "node:os";
import type { AssetOpener, OpenedAsset, OpenOptions } from "../../core/ports/asset-opener.js";
import {
  ASSET_CONTENT_TYPES,
  type AssetSource,
  type PlainSource,
  ProviderFailure,
} from "../../core/ports/music-provider.js";
import { atMost, decoded, once, tooLarge } from "./bytes.js";
import type { DownloadDeps, Downloads } from "./downloads.js";
import { DOWNLOAD_LIMITS } from "./limits.js";
import { providerStream } from "./provider-stream.js";
import { Sandbox, type SandboxOptions } from "../sandbox/index.js";
import { contentTypeOf, HEAD_BYTES } from "./file-type.js";
import { entryOf, ZIP_READER } from "./zip-entry.js";

/** A ZIP may be so many times as large as the file that is read from it. */
const ARCHIVE_FACTOR = 4;

/** Archives that are read at a time; each has a process. */
const ARCHIVES_MAX = 4;
const ARCHIVE_LIMITS = { cpuMs: 60_000, replyMs: 30_000 };

export interface AssetOpenerDeps extends DownloadDeps {
  /** Where archives lie while they are read; the system's folder for temporary files by default. */
  readonly temporaryFolder?: string;
  /** How archives are read. */
  readonly archives?: Partial<Omit<SandboxOptions, "handler">>;
}

/**
 * Opens the files that a plugin returns, from any source. Every failure is a {@link ProviderFailure}; none shows the
 * query of a URL.
 */
export class GuardedAssetOpener implements AssetOpener {
  private downloads: Promise<Downloads> | null = null;
  private isClosed = false;
  private readonly temporaryFolder: string;
  private readonly archives: Sandbox;

  constructor(private readonly deps: AssetOpenerDeps) {
    this.temporaryFolder = deps.temporaryFolder ?? tmpdir();
    this.archives = new Sandbox({
      processes: ARCHIVES_MAX,
      limits: ARCHIVE_LIMITS,
      ...deps.archives,
      handler: ZIP_READER,
    });
  }

  async open(source: AssetSource, options: OpenOptions): Promise<OpenedAsset> {
    return recognised(atMost(options.maxBytes, await this.bytesOf(source, options)));
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await this.archives.close();
    await (await this.downloads)?.close();
  }

  /** Loaded with the first link: a start without hosted providers has no use for it. */
  private opened(): Promise<Downloads> {
    this.downloads ??= import("./downloads.js").then(async ({ Downloads }) => {
      const downloads = new Downloads(this.deps);
      if (this.isClosed) await downloads.close();
      return downloads;
    });
    return this.downloads;
  }

  private async bytesOf(source: AssetSource, options: OpenOptions): Promise<AsyncIterable<Uint8Array>> {
    if (source.kind !== "archive") return this.plainBytesOf(source, options);
    const archiveMaxBytes = options.maxBytes * ARCHIVE_FACTOR;
    const archive = await this.plainBytesOf(source.archive, { ...options, maxBytes: archiveMaxBytes });
    const { maxBytes, signal } = options;
    return entryOf(atMost(archiveMaxBytes, archive), source.entry, {
      folder: this.temporaryFolder,
      maxBytes,
      signal,
      sandbox: this.archives,
    });
  }

  private async plainBytesOf(source: PlainSource, options: OpenOptions): Promise<AsyncIterable<Uint8Array>> {
    switch (source.kind) {
      case "bytes":
        return once(source.bytes);
      case "stream":
        return providerStream(() => source.open(), { ...DOWNLOAD_LIMITS, ...this.deps.limits }, options.signal);
      case "text":
        // Either encoding has more than half as many bytes as characters, or just that: what is too long for sure is
        // not decoded.
        if (source.text.length / 2 > options.maxBytes) throw tooLarge(options.maxBytes);
        return once(decoded(source));
      case "url":
        return (await this.opened()).open(source, options);
    }
  }
}

/** Reads as much as shows what it is, and gives it back in front of the rest. */
async function recognised(bytes: AsyncIterable<Uint8Array>): Promise<OpenedAsset> {
  const iterator = bytes[Symbol.asyncIterator]();
  const first: Uint8Array[] = [];
  let length = 0;
  while (length < HEAD_BYTES) {
    const next = await iterator.next();
    if (next.done === true) break;
    first.push(next.value);
    length += next.value.length;
  }
  const contentType = contentTypeOf(Buffer.concat(first));
  if (contentType !== null) return { contentType, bytes: new Resumed(first, iterator) };
  await iterator.return?.();
  throw new ProviderFailure(
    "failed",
    length === 0
      ? "It is empty."
      : `It is neither audio nor an image that may be stored; allowed: ${ASSET_CONTENT_TYPES.join(", ")}.`,
  );
}

/**
 * The bytes read so far, then the rest. Closing it closes its source even before the first read; a generator would not.
 */
class Resumed implements AsyncIterableIterator<Uint8Array> {
  constructor(
    private readonly first: Uint8Array[],
    private readonly rest: AsyncIterator<Uint8Array>,
  ) {}

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Uint8Array>> {
    const value = this.first.shift();
    return value === undefined ? this.rest.next() : { done: false, value };
  }

  async return(): Promise<IteratorResult<Uint8Array>> {
    await this.rest.return?.();
    return { done: true, value: undefined };
  }
}
