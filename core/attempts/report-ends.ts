import { costOf, type JobAttempt, type JobState } from "../jobs/job.js";
import { logIdsOf } from "../jobs/log-ids.js";
import type { LogFields, Logger } from "../ports/logger.js";
import type { Metrics } from "../ports/metrics.js";

export interface ReportEndsDeps {
  readonly logger: Logger;
  /** null: nothing is counted. */
  readonly metrics: Pick<Metrics, "countJobEnded"> | null;
}

/** Writes a log line for every job that ended in this process, and counts it; called once its end is committed. */
export class ReportEnds {
  constructor(private readonly deps: ReportEndsDeps) {}

  /** Never throws: the end of the job is committed whatever an app's own logger or metrics do. */
  report(job: JobState, attempts: readonly JobAttempt[]): void {
    const { logger, metrics } = this.deps;
    try {
      const took = durationsOf(job, attempts);
      const { seconds, queueSeconds, renderSeconds } = took;
      const { status, operation, provider, model } = labelsOf(job);
      metrics?.countJobEnded({ seconds, queueSeconds, renderSeconds, status, operation, provider, model });
      const { accountId: account_id, attempt, creditsCharged: credits } = job;
      const about = { account_id, operation, provider, model, attempts: attempt, credits };
      // In this order, and without a spread before new members (core/README.md).
      const fields: LogFields = Object.assign({}, logIdsOf(job), about, inLine(took));
      if (job.error === null) logger.info("A job completed", fields);
      else logger.warn("A job failed", { ...fields, refunded: costOf(job), ...reasonOf(job, attempts) });
    } catch (error) {
      logger.error("The end of a job could not be reported", { error, job_id: job.id });
    }
  }
}

interface JobLabels {
  readonly status: string;
  readonly operation: string;
  readonly provider: string;
  readonly model: string;
}

function labelsOf({ status, operation, providerId, servedModelId, modelId }: JobState): JobLabels {
  return { status, operation, provider: providerId, model: servedModelId ?? modelId };
}

interface Durations {
  /** From its creation to its end. */
  readonly seconds: number;
  /** From its creation to its first attempt; null without one. */
  readonly queueSeconds: number | null;
  /** From the call of the attempt that it completed with to the provider's result; null when it failed. */
  readonly renderSeconds: number | null;
}

function durationsOf({ createdAt, completedAt }: JobState, attempts: readonly JobAttempt[]): Durations {
  const [first] = attempts;
  const settled = attempts.find(({ state }) => state === "settled");
  return {
    seconds: secondsBetween(createdAt, completedAt) ?? 0,
    queueSeconds: secondsBetween(createdAt, first?.startedAt ?? null),
    renderSeconds: settled === undefined ? null : secondsBetween(settled.startedAt, settled.finishedAt),
  };
}

function secondsBetween(from: number, to: number | null): number | null {
  return to === null ? null : Math.max(0, to - from) / 1000;
}

function inLine({ seconds: total, queueSeconds, renderSeconds }: Durations): LogFields {
  return {
    seconds: total,
    ...(queueSeconds === null ? {} : { queue_seconds: queueSeconds }),
    ...(renderSeconds === null ? {} : { render_seconds: renderSeconds }),
  };
}

/** What the caller is shown, and what the provider said of the last attempt. */
function reasonOf({ error }: JobState, attempts: readonly JobAttempt[]): LogFields {
  const last = attempts.at(-1);
  return {
    code: error?.code,
    reason: error?.message,
    ...(last === undefined ? {} : { outcome: last.outcome, provider_message: last.message }),
    ...(last !== undefined && last.loss !== null ? { loss: last.loss } : {}),
  };
}
