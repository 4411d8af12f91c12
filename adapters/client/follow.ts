import { createParser } from "eventsource-parser";
import { AbortedError } from "./errors.js";
import type { Schemas } from "./types.js";
import type { Sleep } from "./wait.js";

type Job = Schemas["Job"];

/** Where a job stands. While it is polled, `state` is all that is known. */
export interface Progress {
  readonly state: "waiting" | "retrying" | "submitting" | "rendering" | "ended";
  /** Jobs of all accounts that come first; null: not known, or it does not wait. */
  readonly waiting_before: number | null;
  readonly percent: number | null;
  /** At the provider. */
  readonly queue_position: number | null;
  readonly starts_at: string | null;
  readonly ends_at: string | null;
}

export interface WaitOptions {
  readonly onProgress?: (progress: Progress) => void;
  readonly signal?: AbortSignal;
}

export interface FollowDeps {
  /** The stream of a job's events. */
  openStream(jobId: string, lastEventId: string | null, signal: AbortSignal): Promise<Response>;
  getJob(jobId: string, signal: AbortSignal | undefined): Promise<Job>;
  readonly sleep: Sleep;
  /** Nothing of a stream came by then: a proxy holds it back. */
  readonly silenceMs: number;
  readonly pollMs: number;
}

/** A server shows every 15 s that a stream is alive. */
const DEAD_AFTER_MS = 45_000;
const RECONNECT_MS = 2_000;
/** So many streams without anything new: by polling from then on. */
const MAX_FAILURES = 3;

/** What became of a stream: the job's end, "cut" (another one may go on), or "refused". */
type Outcome = Job | "cut" | "refused";

/** Follows one job to its end: by the stream of its events, or by polling where there is none. */
export class Follower {
  private lastEventId: string | null = null;
  private reconnectMs = RECONNECT_MS;

  constructor(
    private readonly deps: FollowDeps,
    private readonly jobId: string,
    private readonly options: WaitOptions,
  ) {}

  /** @throws {AbortedError} @throws {FermataError} of polling */
  async end(): Promise<Job> {
    const { sleep } = this.deps;
    for (let failures = 0; failures < MAX_FAILURES;) {
      const before = this.lastEventId;
      const outcome = await this.listen();
      if (outcome === "refused") break;
      if (outcome !== "cut") return outcome;
      failures = this.lastEventId === before ? failures + 1 : 0;
      if (failures < MAX_FAILURES) await sleep(this.reconnectMs, this.options.signal);
    }
    return this.poll();
  }

  private async poll(): Promise<Job> {
    for (;;) {
      const job = await this.deps.getJob(this.jobId, this.options.signal);
      if (isFinal(job)) return job;
      this.options.onProgress?.(progressOf(job));
      await this.deps.sleep(this.deps.pollMs, this.options.signal);
    }
  }

  private async listen(): Promise<Outcome> {
    const { signal } = this.options;
    const silence = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let heard = false;
    const watch = (ms: number): void => {
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), ms);
    };
    watch(this.deps.silenceMs);
    try {
      const signals = AbortSignal.any([silence.signal, ...(signal === undefined ? [] : [signal])]);
      const response = await this.deps.openStream(this.jobId, this.lastEventId, signals);
      if (!isStream(response)) {
        await response.body?.cancel();
        return "refused";
      }
      return await this.read(response, () => {
        heard = true;
        watch(DEAD_AFTER_MS);
      });
    } catch (cause) {
      if (signal?.aborted === true) throw new AbortedError({ cause: signal.reason });
      if (cause instanceof ProgressError) throw cause.cause;
      return silence.signal.aborted && !heard ? "refused" : "cut";
    } finally {
      clearTimeout(timer);
      silence.abort();
    }
  }

  private async read(response: Response, onChunk: () => void): Promise<Outcome> {
    let ended: Job | null = null;
    const parser = createParser({
      onEvent: ({ id, event, data }) => {
        if (event === "completed" || event === "failed") ended = (JSON.parse(data) as { readonly job: Job }).job;
        else if (event === "outlook") this.report(JSON.parse(data) as Progress);
        this.lastEventId = id ?? this.lastEventId;
      },
      onRetry: (ms) => (this.reconnectMs = ms),
    });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const decoder = new TextDecoder();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return "cut";
      onChunk();
      parser.feed(decoder.decode(value, { stream: true }));
      if (ended !== null) return ended;
    }
  }

  private report(progress: Progress): void {
    try {
      this.options.onProgress?.(progress);
    } catch (cause) {
      throw new ProgressError("", { cause });
    }
  }
}

/** What the caller's own `onProgress` threw, which is no fault of the stream. */
class ProgressError extends Error {}

function isStream({ status, headers }: Response): boolean {
  return status === 200 && (headers.get("Content-Type") ?? "").startsWith("text/event-stream");
}

function isFinal({ status }: Job): boolean {
  return status === "completed" || status === "failed";
}

function progressOf({ status }: Job): Progress {
  const state = status === "queued" ? "waiting" : "rendering";
  return { state, waiting_before: null, percent: null, queue_position: null, starts_at: null, ends_at: null };
}
