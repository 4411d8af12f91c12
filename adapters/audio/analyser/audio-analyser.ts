import { ServiceUnavailableError } from "../../../core/errors.js";
import {
  type AnalysisRequest,
  type AudioAnalyser,
  type AudioAnalysis,
  AudioUnreadableError,
} from "../../../core/ports/audio-analyser.js";
import {
  Sandbox,
  SandboxError,
  SandboxLimitError,
  type SandboxOptions,
  type SandboxTask,
  raceAbort,
} from "../../sandbox/index.js";
import { analysisOf } from "./analysis-reply.js";
import { formatOf, PROBE_BYTES } from "./format.js";
import type { AnalysisOrder, DecoderReply, DecoderRequest } from "./messages.js";

export interface ProcessAudioAnalyserOptions extends Partial<Omit<SandboxOptions, "handler">> {
  /** For one file. */
  readonly timeoutMs?: number;
  readonly maxSeconds?: number;
}

/** Measuring is a hundred times as fast as playing, on a machine with nothing else to do. */
const TIMEOUT_MS = 180_000;
const MAX_SECONDS = 2 * 3_600;
/** Of all channels: two hours of stereo at 96 kHz. */
const MAX_SAMPLES = MAX_SECONDS * 96_000 * 2;
/** One long or hostile file does not hold up the others. */
const PROCESSES = 2;
const CHUNK_BYTES = 1 << 16;

const HANDLER = new URL(
  import.meta.url.endsWith(".ts") ? "./decoder-process.ts" : "./decoder-process.js",
  import.meta.url,
);

/**
 * Decodes in child processes. One that a file broke, or that used more than it may, ends with that file; another takes
 * the next.
 */
export class ProcessAudioAnalyser implements AudioAnalyser {
  private readonly sandbox: Sandbox;
  private readonly closing = new AbortController();

  constructor(private readonly options: ProcessAudioAnalyserOptions = {}) {
    this.sandbox = new Sandbox({ processes: PROCESSES, ...options, handler: HANDLER });
  }

  async analyse(
    source: Uint8Array | AsyncIterable<Uint8Array>,
    request: AnalysisRequest,
  ): Promise<AudioAnalysis | null> {
    const { signal: given, preview } = request;
    const signal = given === undefined ? this.closing.signal : AbortSignal.any([given, this.closing.signal]);
    const task = await this.sandbox.open(signal);
    const { timeoutMs = TIMEOUT_MS } = this.options;
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(unreadable(`it took longer than ${timeoutMs} ms`)), timeoutMs);
    try {
      const analysis = await raceAbort(
        this.converse(task, chunks(source), preview),
        AbortSignal.any([signal, late.signal]),
      );
      task.release();
      return analysis;
    } catch (error) {
      await task.discard();
      if (error instanceof SandboxLimitError) throw unreadable(error.message, error);
      if (!(error instanceof SandboxError) || signal.aborted) throw error;
      // Nothing shows that the file is to blame: the machine or the runtime may have ended the process.
      const message = "The audio cannot be decoded at present. Try again.";
      throw new ServiceUnavailableError(message, undefined, { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }

  async close(): Promise<void> {
    this.closing.abort(new Error("The audio analyser has been closed."));
    await this.sandbox.close();
  }

  private async converse(
    task: SandboxTask,
    bytes: AsyncGenerator<Uint8Array, void>,
    preview: boolean,
  ): Promise<AudioAnalysis | null> {
    try {
      const head = await readHead(bytes);
      const format = formatOf(head);
      if (format === null) return null;
      const order = { format, preview, maxSeconds: this.options.maxSeconds ?? MAX_SECONDS, maxSamples: MAX_SAMPLES };
      return await decode(task, order, chained(head, bytes));
    } finally {
      // Not awaited: a source that hangs would keep its slot for good. Why it could not be closed does not change the
      // result.
      bytes.return(undefined).catch(() => undefined);
    }
  }
}

/** Sends a file in chunks, each when the one before was decoded. */
async function decode(
  task: SandboxTask,
  order: AnalysisOrder,
  source: AsyncIterable<Uint8Array>,
): Promise<AudioAnalysis> {
  const ask = async (request: DecoderRequest): Promise<DecoderReply> => {
    const reply = (await task.ask(request)) as DecoderReply;
    if (reply.kind === "unreadable") throw unreadable(reply.message);
    return reply;
  };
  await ask({ kind: "order", order });
  for await (const bytes of source) await ask({ kind: "bytes", bytes });
  return analysisOf(await ask({ kind: "end" }), order);
}

function unreadable(why: string, cause?: unknown): AudioUnreadableError {
  return new AudioUnreadableError(`The audio cannot be read: ${why}.`, { cause });
}

/** In chunks of a size that a decoder takes at once. */
async function* chunks(source: Uint8Array | AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  for await (const part of source instanceof Uint8Array ? [source] : source) {
    for (let start = 0; start < part.length; start += CHUNK_BYTES) yield part.subarray(start, start + CHUNK_BYTES);
  }
}

/** Bytes at the start of a file that suffice to detect its format. */
async function readHead(source: AsyncGenerator<Uint8Array, void>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  while (length < PROBE_BYTES) {
    const { value, done } = await source.next();
    if (done === true) break;
    parts.push(value);
    length += value.length;
  }
  return Buffer.concat(parts);
}

async function* chained(head: Uint8Array, rest: AsyncGenerator<Uint8Array, void>): AsyncGenerator<Uint8Array, void> {
  yield head;
  yield* rest;
}
