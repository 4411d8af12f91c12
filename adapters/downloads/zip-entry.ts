import { createWriteStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { ProviderFailure } from "../../core/ports/music-provider.js";
import { type Sandbox, SandboxError, SandboxStartError, type SandboxTask } from "../sandbox/index.js";
import type { ZipReply, ZipRequest } from "./zip-messages.js";

export interface ZipOptions {
  /** Where the archive is stored while it is read; a folder of its own below it is gone afterwards. */
  readonly folder: string;
  /** Of the entry. */
  readonly maxBytes: number;
  /** Runs {@link ZIP_READER}. */
  readonly sandbox: Sandbox;
  readonly signal: AbortSignal;
}

/** The module that reads ZIPs in a child process. */
export const ZIP_READER = new URL(
  import.meta.url.endsWith(".ts") ? "./zip-reader.ts" : "./zip-reader.js",
  import.meta.url,
);

const MESSAGE_LENGTH_MAX = 300;

/**
 * One file of a ZIP: of exactly this name with its path, else of this name in any folder. The archive is stored first,
 * since its table of contents is at its end, and read in a child process. Nothing is written under the names it holds.
 *
 * @throws {ProviderFailure} `failed`: it is no ZIP, has no such entry, one that is encrypted or too large, or takes
 * more than it may to read; and what `archive` throws
 */
export async function entryOf(
  archive: AsyncIterable<Uint8Array>,
  name: string,
  options: ZipOptions,
): Promise<AsyncIterable<Uint8Array>> {
  const own = await mkdtemp(join(options.folder, "fermata-archive-"));
  let reader: ZipReader | null = null;
  try {
    const path = join(own, "archive.zip");
    await pipeline(archive, createWriteStream(path, { mode: 0o600 }));
    reader = await ZipReader.open(options);
    await reader.ask({ kind: "open", path, name, maxBytes: options.maxBytes });
    return new OpenEntry(reader, own);
  } catch (error) {
    await reader?.discard();
    await discard(own);
    throw error;
  }
}

/**
 * A process for one archive, which ends when its caller stops waiting. Its failures are those of {@link
 * entryOf}.
 */
class ZipReader {
  private readonly onAbort = (): void => void this.discard();

  private constructor(
    private readonly task: SandboxTask,
    private readonly options: ZipOptions,
  ) {
    options.signal.addEventListener("abort", this.onAbort, { once: true });
  }

  static async open(options: ZipOptions): Promise<ZipReader> {
    try {
      return new ZipReader(await options.sandbox.open(options.signal), options);
    } catch (cause) {
      throw stopped(cause);
    }
  }

  async ask(request: ZipRequest): Promise<ZipReply> {
    const { signal, sandbox } = this.options;
    try {
      const reply = (await this.task.ask(request)) as ZipReply;
      if (reply.kind !== "refused") return reply;
      this.release();
      throw new ProviderFailure("failed", String(reply.message).slice(0, MESSAGE_LENGTH_MAX));
    } catch (error) {
      if (signal.aborted || sandbox.isClosed) throw stopped(error);
      if (!(error instanceof SandboxError)) throw error;
      const kind = error instanceof SandboxStartError ? "unavailable" : "failed";
      throw new ProviderFailure(kind, `The ZIP cannot be read: ${error.message}.`, { cause: error });
    }
  }

  release(): void {
    this.options.signal.removeEventListener("abort", this.onAbort);
    this.task.release();
  }

  async discard(): Promise<void> {
    this.options.signal.removeEventListener("abort", this.onAbort);
    await this.task.discard();
  }
}

function stopped(cause: unknown): ProviderFailure {
  return new ProviderFailure("unavailable", "The ZIP was not read to its end: the work was stopped.", { cause });
}

async function discard(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
}

/** Deletes the archive when it is read to its end, fails or is closed, even before anything was read. */
class OpenEntry implements AsyncIterableIterator<Uint8Array> {
  private isOver = false;

  constructor(
    private readonly reader: ZipReader,
    private readonly folder: string,
  ) {}

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Uint8Array>> {
    if (this.isOver) return { done: true, value: undefined };
    try {
      const reply = await this.reader.ask({ kind: "read" });
      if (reply.kind === "bytes") return { done: false, value: reply.bytes };
      this.reader.release();
      return await this.return();
    } catch (error) {
      await this.return();
      throw error;
    }
  }

  /** A process that was not asked to the end, or has failed, is not used again. */
  async return(): Promise<IteratorResult<Uint8Array>> {
    this.isOver = true;
    await this.reader.discard();
    await discard(this.folder);
    return { done: true, value: undefined };
  }
}
