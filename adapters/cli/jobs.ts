import type { Command } from "commander";
import { Option } from "commander";
import type { Submissions } from "../../core/execution/submission-switch.js";
import type { Cancellation } from "../../core/jobs/operate-jobs.js";
import type { JobStatus } from "../../core/jobs/job.js";
import type { ShownAttempt, ShownJob } from "../../core/jobs/shown-job.js";
import type { CliHost } from "./host.js";
import { accountIn, addCommand, addGroup, callable, iso, print, table, withApp } from "./output.js";
import { describeTimeline } from "./timeline.js";
import { wholeNumberWithin } from "./values.js";

interface ListOptions {
  readonly account?: string;
  readonly status?: JobStatus;
  readonly provider?: string;
  readonly limit: number;
  readonly json?: boolean;
}

const STATUSES: readonly JobStatus[] = ["queued", "processing", "completed", "failed"];

const CANCELLATIONS: Readonly<Record<Cancellation["outcome"], string>> = {
  cancelled: "cancelled; its credits are refunded.",
  running: "its provider has it and has not confirmed a cancellation; it runs to its end, and is refunded if it fails.",
  ended: "it had ended before; nothing was changed.",
};

/** `jobs …`. */
export function addJobCommands(program: Command, host: CliHost): void {
  const jobs = addGroup(program, "jobs", "List, show and cancel jobs, pause and resume their submission");
  addCommand(jobs, "list", "List jobs, newest first", [
    "jobs list --status processing",
    "jobs list --account acct_01j… --limit 100",
  ])
    .option("--account <account>", "only this account's")
    .addOption(new Option("--status <status>", "only those in this status").choices(STATUSES))
    .option("--provider <id>", "only those that this provider does, or did last")
    .option("--limit <n>", "at most this many, 1 to 1000", wholeNumberWithin(1, 1_000), 20)
    .action(async (options: ListOptions) => {
      await withApp(host, async (app, present) => {
        const accountId = options.account === undefined ? {} : { accountId: await accountIn(app, options.account) };
        const status = options.status === undefined ? {} : { status: options.status };
        const providerId = options.provider === undefined ? {} : { providerId: options.provider };
        const list = await app.jobs.list({ ...accountId, ...status, ...providerId, limit: options.limit });
        const reports = await Promise.all(list.map((job) => app.jobs.show(job.id)));
        const rows = list.map((job) => [job.id, job.status, job.operation, job.accountId, iso(job.createdAt)]);
        const shown = reports.map((report) => ({ id: report.job.id, ...present.job(report) }));
        print(host, options, { jobs: shown }, rows.length === 0 ? ["No jobs."] : table(rows));
      });
    });
  addCommand(jobs, "show <id>", "Show a job with all that happened to it", ["jobs show job_01j… --json"]).action(
    async (id: string, options: { json?: boolean }) => {
      await withApp(host, async (app, present) => {
        const report = await app.jobs.show(id);
        const attempts = report.attempts.map(presentAttempt);
        const timeline = present.timeline(report.timeline);
        const shown = { id: report.job.id, ...present.job(report), attempts, timeline };
        print(host, options, shown, [...describeJob(report.job), ...describeTimeline(report.timeline)]);
      });
    },
  );
  addCommand(jobs, "cancel <id>", "Cancel a job, and refund it unless its provider goes on with it", [
    "jobs cancel job_01j…",
    "jobs cancel job_01j… --force",
  ])
    .option("--force", "end and refund it at once, also when its provider delivers and bills it later")
    .action(async (id: string, { force = false, ...options }: { force?: boolean; json?: boolean }) => {
      await withApp(host, async (app, present) => {
        const { outcome, generation } = await app.jobs.cancel(id, { force });
        const report = await app.jobs.show(generation.id);
        print(host, options, { id: generation.id, outcome, ...present.job(report) }, [
          `${generation.id}: ${CANCELLATIONS[outcome]}`,
        ]);
      });
    });
  addCommand(jobs, "retry <id>", "Start a failed job once more, as a new one that its account pays", [
    "jobs retry job_01j…",
  ]).action(async (id: string, options: { json?: boolean }) => {
    const { id: newId, isRepeated } = await withApp(host, (app) => app.retryJobs.retry(id));
    const words = isRepeated ? "was started for it before; nothing was started or charged now" : "is queued";
    print(host, options, { id: newId, repeated: isRepeated }, [`${newId} ${words}.`]);
  });
  addSubmissionCommands(jobs, host);
}

function addSubmissionCommands(jobs: Command, host: CliHost): void {
  const present = ({ state, changedAt }: Submissions): object => ({ submissions: state, changed_at: iso(changedAt) });
  addCommand(jobs, "pause", "Buy nothing new at providers; jobs are accepted and wait", ["jobs pause"]).action(
    async (options: { json?: boolean }) => {
      const submissions = await withApp(host, (app) => app.submissions.pause());
      print(host, options, present(submissions), [
        "Submissions are paused in every process, within seconds. Jobs are accepted and wait; what providers have " +
          "goes on.",
        callable(host, "Go on with `fermata jobs resume`."),
      ]);
    },
  );
  addCommand(jobs, "resume", "Submit jobs to providers again", ["jobs resume"]).action(
    async (options: { json?: boolean }) => {
      const submissions = await withApp(host, (app) => app.submissions.resume());
      print(host, options, present(submissions), ["Submissions are active in every process, within seconds."]);
    },
  );
}

function presentAttempt(attempt: ShownAttempt): object {
  return {
    id: attempt.id,
    number: attempt.number,
    provider: attempt.providerId,
    model: attempt.modelId,
    state: attempt.state,
    started_at: iso(attempt.startedAt),
    accepted_at: iso(attempt.acceptedAt),
    deadline_at: iso(attempt.deadlineAt),
    ended_at: iso(attempt.endedAt),
    outcome: attempt.outcome,
    message: attempt.message,
    cost: attempt.cost,
    billable: attempt.billable,
    loss: attempt.loss,
  };
}

function describeJob(job: ShownJob): string[] {
  return table([
    ["id", job.id],
    ["account", job.accountId],
    ["operation", job.operation],
    ...(job.reference === null ? [] : [["reference", job.reference]]),
    ["model", job.modelId],
    ...Object.entries(job.request.options).map(([name, value]) => [`option ${name}`, String(value)]),
    ["status", job.status],
    ["credits", String(job.creditsCharged)],
    ["created", iso(job.createdAt)],
    ...(job.cancelRequestedAt === null ? [] : [["cancellation requested", iso(job.cancelRequestedAt) ?? "-"]]),
    ["ended", iso(job.completedAt) ?? "-"],
    ...(job.error === null ? [] : [["error", `${job.error.code}: ${job.error.message}`]]),
  ]);
}
