import { BackgroundLoop } from "../background-loop.js";
import { OperationRefusedError } from "../errors.js";
import { type EndedJobs, type EndEventType, eventTypeOf } from "../jobs/ended-jobs.js";
import type { Clock } from "../ports/clock.js";
import type { JobStore, NumberedEnd } from "../ports/job-store.js";
import type { Logger } from "../ports/logger.js";
import { type Generation, toGeneration } from "./generations.js";
import type { ReadGenerations } from "./read-generations.js";

/**
 * The type of an event, as webhooks have it; `job.completed` and `job.failed` are those of every kind of job, and
 * `job.ended` is all of them.
 */
export type EventName = EndEventType | "job.completed" | "job.failed" | "job.ended";

/** The end of a generation or a split. */
export interface GenerationEvent {
  /**
   * Its place among the events of all accounts: a listener that is given it as `after` continues behind it. Opaque, at
   * most 40 characters.
   */
  readonly cursor: string;
  /** As the type of the webhook of this end: `generation.completed`, `stem_split.failed` and so on. */
  readonly type: EndEventType;
  /** As it has ended; it ends once, so its `id` tells a repeated event. */
  readonly generation: Generation;
}

/** The event counts as heard once what this returns has resolved. A listener that throws or rejects gets it again. */
export type EventListener = (event: GenerationEvent) => unknown;

export interface ListeningDeps {
  readonly jobs: Pick<JobStore, "numberEnds" | "listEnds" | "lastEndNumber" | "endNumberBefore">;
  readonly read: Pick<ReadGenerations, "withTracks">;
  readonly endedJobs: Pick<EndedJobs, "onEnded">;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How often storage is read, for jobs that end in other processes. */
const LOOK_MS = 1_000;
/** While jobs end one after another, those of so long are numbered and read together. */
const TOGETHER_MS = 20;
/** Events that are read together. */
const PAGE = 100;
/** Ends that are numbered in one transaction. */
const NUMBERED = 500;
const RETRY_MS = 1_000;
const RETRY_MAX_MS = 60_000;

export interface Wanted {
  readonly name: EventName;
  readonly listener: EventListener;
  /** null: what ends from now on. */
  readonly position: number | null;
}

/** One listener, with its place. */
export class Listening {
  readonly ready: Promise<void>;
  private position: number | null;
  private readonly since: number;
  private readonly loop: BackgroundLoop;
  private readonly logger: Logger;
  private isReady = false;
  /** Whether jobs had ended at the last look. */
  private isBusy = false;
  private becomeReady: () => void = () => undefined;
  private refuse: (error: Error) => void = () => undefined;
  private unlisten: () => void = () => undefined;

  constructor(
    private readonly deps: ListeningDeps,
    private readonly wanted: Wanted,
  ) {
    const { clock, logger } = deps;
    this.position = wanted.position;
    this.since = clock.now();
    this.logger = logger.child({ event: wanted.name });
    this.ready = new Promise((resolve, reject) => {
      [this.becomeReady, this.refuse] = [resolve, reject];
    });
    // Who does not wait for it reads of a refusal in the log.
    this.ready.catch(() => undefined);
    this.loop = new BackgroundLoop({
      step: (signal) => this.step(signal),
      errorPauseMs: LOOK_MS,
      clock,
      logger: this.logger,
      errorMessage: "Ended jobs could not be read for a listener",
    });
  }

  start(): this {
    this.unlisten = this.deps.endedJobs.onEnded(() => this.loop.wake(this.isBusy ? TOGETHER_MS : 0));
    this.loop.start();
    return this;
  }

  /** Resolves when no listener runs. */
  stop(): Promise<void> {
    this.unlisten();
    this.becomeReady();
    return this.loop.stop();
  }

  private async step(signal: AbortSignal): Promise<number> {
    const { jobs } = this.deps;
    let numbered = NUMBERED;
    while (numbered === NUMBERED && !signal.aborted) numbered = await jobs.numberEnds(NUMBERED);
    this.isBusy = numbered > 0;
    if (signal.aborted) return LOOK_MS;
    let position = this.position ?? (await jobs.endNumberBefore(this.since));
    if (!this.isReady && !(await this.begin(position))) return LOOK_MS;
    for (let read = PAGE; read === PAGE && !signal.aborted;) {
      const ends = await jobs.listEnds(position, PAGE);
      if (!(await this.notifyOf(ends, signal))) break;
      read = ends.length;
      position = this.position ?? position;
    }
    return LOOK_MS;
  }

  /** @returns false when the place is none of this storage */
  private async begin(position: number): Promise<boolean> {
    this.position = position;
    if (this.wanted.position !== null && position > (await this.deps.jobs.lastEndNumber())) {
      const error = new OperationRefusedError(`The cursor ${position} is ahead of all events of this storage.`);
      this.logger.error("A listener was ended: its cursor is ahead of all events", { error });
      this.refuse(error);
      void this.stop();
      return false;
    }
    this.isReady = true;
    this.becomeReady();
    return true;
  }

  /** @returns false when the listening ended before all were heard */
  private async notifyOf(ends: readonly NumberedEnd[], signal: AbortSignal): Promise<boolean> {
    const wanted = ends.filter(({ job }) => isNamed(this.wanted.name, eventTypeOf(job)));
    const found = await this.deps.read.withTracks(wanted.map(({ job }) => job));
    for (const [index, end] of wanted.entries()) {
      const one = found[index];
      if (one === undefined) continue;
      const generation = toGeneration(one);
      if (!(await this.notify({ cursor: String(end.number), type: eventTypeOf(end.job), generation }, signal)))
        return false;
      this.position = end.number;
    }
    this.position = ends.at(-1)?.number ?? this.position;
    return true;
  }

  /** Until the listener has heard it. @returns false when the listening ended before */
  private async notify(event: GenerationEvent, signal: AbortSignal): Promise<boolean> {
    for (let pauseMs = RETRY_MS; !signal.aborted; pauseMs = Math.min(pauseMs * 2, RETRY_MAX_MS)) {
      try {
        await this.wanted.listener(event);
        return true;
      } catch (error) {
        const fields = { error, job_id: event.generation.id, cursor: event.cursor, retry_in_ms: pauseMs };
        this.logger.error("A listener failed; it gets the event again", fields);
        await this.deps.clock.sleep(pauseMs, signal);
      }
    }
    return false;
  }
}

function isNamed(name: EventName, type: EndEventType): boolean {
  const [subject, status] = name.split(".");
  if (subject !== "job") return name === type;
  return status === "ended" || type.endsWith(`.${status}`);
}
