/**
 * Settings of jobs: how long each part of their life may take, and what becomes of them when workers or providers fail.
 */
import type { Group } from "./definition.js";
import * as kind from "./kinds.js";

export const jobs = {
  leaseSeconds: kind.number({
    default: 30,
    min: 1,
    max: 3_600,
    unit: "seconds",
    description: "How long a silent worker keeps a job before another may take it",
  }),
  maxAttempts: kind.integer({
    default: 3,
    min: 1,
    max: 100,
    description: "Submissions to a provider that refuses for now",
  }),
  backoffMs: kind.integer({
    default: 2_000,
    min: 0,
    max: 3_600_000,
    unit: "milliseconds",
    description: "Wait before the second attempt; it doubles with each further one",
  }),
  deadlineMinutes: kind.optional(
    kind.duration({ max: 10_080, unit: "minutes", description: "Older name of both deadlines: the default of each" }),
  ),
  queueDeadlineMinutes: kind.duration({
    default: kind.workedOut(
      "`jobs.deadlineMinutes`, or `60`",
      ({ at }) => (at("jobs.deadlineMinutes") as number | null) ?? 60,
    ),
    max: 10_080,
    unit: "minutes",
    description: "A job of which nothing was bought by this time fails and is refunded",
  }),
  renderDeadlineMinutes: kind.duration({
    default: kind.workedOut(
      "`jobs.deadlineMinutes`, or `60`",
      ({ at }) => (at("jobs.deadlineMinutes") as number | null) ?? 60,
    ),
    max: 10_080,
    unit: "minutes",
    description:
      "How long a provider may render what it accepted before it is asked to cancel; a model may set its own. " +
      "Both deadlines together are at most `idempotency.ttlHours`",
  }),
  submissions: kind.choice(["active", "paused"], {
    default: "active",
    description: "Whether a process that starts buys new work at providers, or only after `fermata jobs resume`",
  }),
  confirmSeconds: kind.number({
    default: 60,
    min: 0,
    max: 86_400,
    unit: "seconds",
    description:
      "How long paid work that a provider calls gone or failed without a reason, or whose files cannot be had, is " +
      "asked for again before the job fails",
  }),
  unknownGraceSeconds: kind.number({
    default: 600,
    min: 0,
    max: 604_800,
    unit: "seconds",
    description: "How long a lost reply of a provider may still turn up before the job fails and is refunded",
  }),
  sweepMs: kind.integer({
    default: 1_000,
    min: 10,
    max: 60_000,
    unit: "milliseconds",
    description: "How often workers look for jobs of which no notification arrived",
  }),
  shutdownGraceSeconds: kind.number({
    default: 5,
    min: 0,
    max: 600,
    unit: "seconds",
    description: "How long a stopping process lets repeatable work finish; more than 7 counts as 7",
  }),
  drainSeconds: kind.number({
    default: 300,
    min: 0,
    max: 3_600,
    unit: "seconds",
    description: "How long a stopping process waits for provider calls that cannot be repeated; see Stopping",
  }),
} as const satisfies Group;
