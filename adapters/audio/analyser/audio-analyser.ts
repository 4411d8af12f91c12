import type { Worker } from "node:worker_threads";
import {
  type AnalysisRequest,
  type AudioAnalyser,
  type AudioAnalysis,
  AudioUnreadableError,
} from "../../../core/ports/audio-analyser.js";
import { formatOf, PROBE_BYTES } from "./format.js";
import type { AnalysisOrder, FromThread, ToThread } from "./messages.js";
import { Threads } from "./threads.js";
import { Turns } from "./turns.js";

export interface ThreadAudioAnalyserOptions {
  /** Files that are listened to at a time; the others wait. */
  readonly threads?: number;
  /** For one file. */
  readonly timeoutMs?: number;
  readonly maxSeconds?: number;
  readonly startThread?: () => Worker;
}

interface Limits {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Listening is a hundred times as fast as playing, on a machine with nothing else to do. */
const TIMEOUT_MS = 180_000;
const MAX_SECONDS = 2 * 3_600;
/** One long or hostile file holds nobody up. */
const THREADS = 2;
const PIECE_BYTES = 1 << 16;

/** Listens in threads. One that a file has broken, or kept too long, is ended with it; another one hears the next. */
export class ThreadAudioAnalyser implements AudioAnalyser {
  private readonly turns: Turns;
  private readonly threads: Threads;
  private readonly closing = new AbortController();

  constructor(private readonly options: ThreadAudioAnalyserOptions = {}) {
    this.turns = new Turns(options.threads ?? THREADS);
    this.threads = new Threads(options.startThread);
  }

  async analyse(source: Uint8Array | AsyncIterable<Uint8Array>, request: AnalysisRequest): Promise<AudioAnalysis | null> {
    const { signal: given } = request;
    const signal = given === undefined ? this.closing.signal : AbortSignal.any([given, this.closing.signal]);
    const free = await this.turns.take(signal);
    try {
      return await this.listen(pieces(source), request.preview, signal);
    } finally {
      free();
    }
  }

  async close(): Promise<void> {
    this.closing.abort(new Error("The audio analyser has been closed."));
    await this.turns.idle();
    await this.threads.endIdle();
  }

  private async listen(source: AsyncGenerator<Uint8Array, void>, preview: boolean, signal: AbortSignal): Promise<AudioAnalysis | null> {
    try {
      const head = await readHead(source);
      const format = formatOf(head);
      if (format === null) return null;
      signal.throwIfAborted();
      return await this.listenTo(chained(head, source), { format, preview, maxSeconds: this.options.maxSeconds ?? MAX_SECONDS }, signal);
    } finally {
      // Not awaited: a source that hangs would keep its place for good. Why it could not be closed does not matter to the answer.
      source.return(undefined).catch(() => undefined);
    }
  }

  private async listenTo(source: AsyncGenerator<Uint8Array, void>, order: AnalysisOrder, signal: AbortSignal): Promise<AudioAnalysis> {
    const thread = this.threads.take();
    try {
      const analysis = await converse(thread, order, source, { timeoutMs: this.options.timeoutMs ?? TIMEOUT_MS, signal });
      this.threads.giveBack(thread);
      return analysis;
    } catch (error) {
      await this.threads.end(thread);
      throw error;
    }
  }
}

/** Feeds a thread as it asks for more, until it answers, dies or takes too long. */
function converse(thread: Worker, order: AnalysisOrder, source: AsyncGenerator<Uint8Array, void>, limits: Limits): Promise<AudioAnalysis> {
  const { timeoutMs, signal } = limits;
  return new Promise((resolve, reject) => {
    const unreadable = (why: string, cause?: unknown): void =>
      end(() => reject(new AudioUnreadableError(`The audio cannot be read: ${why}.`, { cause })));
    const onAbort = (): void => end(() => reject(signal.reason as Error));
    const onMessage = (message: FromThread): void => {
      if (message.kind === "done") end(() => resolve(message.analysis));
      else if (message.kind === "unreadable") unreadable(message.message);
      else feed().catch((error: Error) => end(() => reject(error)));
    };
    const feed = async (): Promise<void> => {
      const { value, done } = await source.next();
      if (done === true) return tell({ kind: "end" });
      // A view would take all that it is a view of along.
      const bytes = new Uint8Array(value);
      tell({ kind: "bytes", bytes }, [bytes.buffer]);
    };
    const tell = (message: ToThread, transfer: ArrayBuffer[] = []): void => thread.postMessage(message, transfer);
    const timer = setTimeout(() => unreadable(`it took longer than ${timeoutMs} ms`), timeoutMs);
    const end = (report: () => void): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      thread.off("message", onMessage);
      report();
    };
    signal.addEventListener("abort", onAbort);
    thread.on("message", onMessage);
    thread.on("error", (cause) => unreadable("its thread died", cause));
    thread.on("exit", (code) => unreadable(`its thread ended with code ${code}`));
    tell({ kind: "order", order });
  });
}

/** In pieces of a size that a decoder takes at once. */
async function* pieces(source: Uint8Array | AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  for await (const part of source instanceof Uint8Array ? [source] : source) {
    for (let start = 0; start < part.length; start += PIECE_BYTES) yield part.subarray(start, start + PIECE_BYTES);
  }
}

/** The beginning of a file, long enough to tell its format where the file is. */
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
