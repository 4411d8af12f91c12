import { setTimeout as sleep } from "node:timers/promises";
import { type Command, Option } from "commander";
import { printable } from "../../../core/printable.js";
import type { CliHost } from "../host.js";
import { callable } from "../output.js";
import { decimal } from "../values.js";
import { type AcceptedJob, type CallerApi, CallerApiError, type CallerJob, type CallerProgress } from "./caller-api.js";
import { CallerFailure, EXIT_INTERRUPTED, withHint } from "./caller-failure.js";
import { INTERRUPT_CHOICES, type InterruptChoice, Interruption } from "./interruption.js";
import { progressOn } from "./progress.js";

export interface FollowFlags {
  readonly onInterrupt?: InterruptChoice;
  /** Seconds. */
  readonly timeout?: number;
  readonly json?: boolean;
}

export function addFollowOptions(command: Command): Command {
  return command
    .option("--timeout <seconds>", "wait no longer than this; the job goes on", decimal)
    .addOption(
      new Option("--on-interrupt <choice>", "what Ctrl-C does with the job; without it a terminal asks").choices(
        INTERRUPT_CHOICES,
      ),
    );
}

/** A request that makes a job. */
export interface JobRequest {
  send(): Promise<AcceptedJob>;
  /** The options with which a repeated command is charged once: `--model M --key K`. */
  readonly repeatedWith: string;
}

/**
 * Sends the request and, unless `isDetached`, follows the job to its end.
 *
 * @param goOn the command that goes on with a job, by its id
 * @returns the job as it was accepted, and as it ended; null: it is not followed
 * @throws {CallerFailure} the request or the job failed, the time is over, or the command was interrupted
 */
export async function requestJob(
  host: CliHost,
  api: CallerApi,
  request: JobRequest,
  flags: FollowFlags & { readonly isDetached: boolean },
  goOn: (jobId: string) => string,
): Promise<{ readonly accepted: AcceptedJob; readonly ended: CallerJob | null }> {
  return withInterruption(host, flags, async (following) => {
    const accepted = await following.untilLeft(send(request), () => unknownOutcome(request, "It was interrupted."));
    if (flags.isDetached && !following.interruption.isInterrupted) return { accepted, ended: null };
    following.note(`${accepted.id} was accepted for ${accepted.credits_reserved} credits.`);
    return { accepted, ended: await following.follow(api, accepted.id, goOn(accepted.id)) };
  });
}

/** Follows a job that was accepted before. @throws {CallerFailure} as {@link requestJob} */
export async function followJob(
  host: CliHost,
  api: CallerApi,
  jobId: string,
  flags: FollowFlags,
  goOn: string,
): Promise<CallerJob> {
  return withInterruption(host, flags, (following) => following.follow(api, jobId, goOn));
}

async function withInterruption<T>(
  host: CliHost,
  flags: FollowFlags,
  work: (following: Following) => Promise<T>,
): Promise<T> {
  const following = new Following(host, flags);
  try {
    return await work(following);
  } finally {
    following.end();
  }
}

async function send(request: JobRequest): Promise<AcceptedJob> {
  try {
    return await request.send();
  } catch (error) {
    const isRefused = error instanceof CallerApiError && error.status !== null && error.status < 500;
    throw isRefused ? error : withHint(error, unknownOutcome(request, "").message);
  }
}

function unknownOutcome({ repeatedWith }: JobRequest, what: string): CallerFailure {
  const message = `${what} The server may have accepted it. Repeat it with ${repeatedWith}: nothing is charged twice.`;
  return new CallerFailure("interrupted", message.trim(), { exitCode: EXIT_INTERRUPTED });
}

/** A job under way, its progress, and the signals that interrupt it. */
class Following {
  readonly interruption: Interruption;
  private readonly view;
  private isAsking = false;

  constructor(
    private readonly host: CliHost,
    private readonly flags: FollowFlags,
  ) {
    this.view = progressOn(host.stderr, flags.json === true);
    this.interruption = new Interruption(host, flags.onInterrupt, () => {
      this.isAsking = true;
      this.view.clear();
    });
  }

  end(): void {
    this.view.end();
    this.interruption.end();
  }

  /** stdout is for the result. */
  note(line: string): void {
    if (this.flags.json !== true) this.host.stderr.write(`${printable(line)}\n`);
  }

  async untilLeft<T>(work: Promise<T>, failure: () => CallerFailure): Promise<T> {
    const left = this.interruption.left.then(() => Promise.reject(failure()));
    return Promise.race([work, left]);
  }

  async follow(api: CallerApi, jobId: string, goOn: string): Promise<CallerJob> {
    const { flags } = this;
    const stopping = new AbortController();
    const { signal } = stopping;
    const onProgress = (progress: CallerProgress): void => {
      if (!this.isAsking) this.view.show(progress);
    };
    const ended = api.wait(jobId, { onProgress, signal }).catch((error: unknown) => {
      throw error instanceof CallerApiError && isFinal(error) ? error : withHint(error, callable(this.host, goOn));
    });
    try {
      const first = await Promise.race([ended, this.interruption.chosen, this.timeout(signal)]);
      if (first === "timeout") throw this.failure("timeout", jobId, `has not ended after ${flags.timeout} s`, goOn);
      if (first === "leave") throw this.failure("interrupted", jobId, "is left running", goOn);
      return succeeded(first === "cancel" ? await this.cancel(api, jobId, goOn) : first);
    } finally {
      stopping.abort();
      this.view.clear();
    }
  }

  private async timeout(signal: AbortSignal): Promise<"timeout"> {
    const { timeout } = this.flags;
    if (timeout === undefined) return new Promise(() => undefined);
    // It stops with the rest, and then nothing waits for it.
    await sleep(timeout * 1_000, null, { signal }).catch(() => undefined);
    return "timeout";
  }

  /** @returns the job, when it had ended before */
  private async cancel(api: CallerApi, jobId: string, goOn: string): Promise<CallerJob> {
    const failure = (): CallerFailure => this.failure("interrupted", jobId, "is left running", goOn);
    const { outcome, job } = await this.untilLeft(api.cancel(jobId), failure).catch((error: unknown) => {
      throw error instanceof CallerApiError ? withHint(error, callable(this.host, goOn)) : error;
    });
    if (outcome === "ended") return job;
    if (outcome === "running") {
      const what = "is bought and runs to its end, unless its provider still stops it";
      throw this.failure("interrupted", jobId, what, goOn);
    }
    const paid = job.credits_charged === 0 ? "its credits are refunded" : `${job.credits_charged} credits are charged`;
    throw new CallerFailure("interrupted", `${jobId} is cancelled; ${paid}.`, {
      exitCode: EXIT_INTERRUPTED,
      details: { job_id: jobId, status: job.status },
    });
  }

  private failure(code: "timeout" | "interrupted", jobId: string, what: string, goOn: string): CallerFailure {
    return new CallerFailure(code, `${jobId} ${what}.\n${callable(this.host, goOn)}`, {
      exitCode: code === "timeout" ? 1 : EXIT_INTERRUPTED,
      details: { job_id: jobId },
    });
  }
}

/** A refusal that repeating the command does not change. */
function isFinal({ status }: CallerApiError): boolean {
  return status !== null && status < 500 && status !== 429;
}

/** @throws {CallerFailure} the job failed */
function succeeded(job: CallerJob): CallerJob {
  if (job.status === "completed") return job;
  const { code, message, details } = job.error ?? { code: "generation_failed", message: "It failed." };
  const paid = job.credits_charged === 0 ? "Its credits are refunded." : `${job.credits_charged} credits are charged.`;
  throw new CallerFailure(code, `${job.job_id} failed: ${message} ${paid}`, {
    details: { job_id: job.job_id, ...details },
  });
}
