import type { Knex } from "knex";
import { addColumn, addIndex, type Migration } from "./migration.js";

/** What the core put into a handle for a result that the provider had made at once. */
const DELIVERED = "fermata:delivered";
/** The deadlines that were the defaults before attempts had their own, in milliseconds. */
const RENDER_MS = 3_600_000;
const GRACE_MS = 600_000;

/** Attempts become purchases: each with a state, a handle, a result and a deadline of its own. */
export const attempts: Migration = {
  name: "0017-attempts",
  async up(knex, columns) {
    await addColumn(knex, "jobs", "ended_by", (table, name) => columns.id(table, name));
    await addColumn(knex, "job_attempts", "model_id", (table, name) => columns.id(table, name, 100));
    await addColumn(knex, "job_attempts", "state", (table, name) => columns.id(table, name, 20));
    await addColumn(knex, "job_attempts", "loss", (table, name) => columns.id(table, name, 30));
    for (const moment of [
      "call_ends_at",
      "accepted_at",
      "finished_at",
      "deadline_at",
      "overdue_since",
      "end_reported_at",
      "cancel_due_at",
    ]) {
      await addColumn(knex, "job_attempts", moment, (table, name) => columns.integer(table, name));
    }
    for (const text of ["handle", "result", "files"]) await addColumn(knex, "job_attempts", text, (table, name) => columns.json(table, name));
    // Once the columns of before are gone, everything is filled in.
    if (await knex.schema.hasColumn("jobs", "handle")) await fillIn(knex);
    await addIndex(knex, columns, "job_attempts", "job_attempts_deadline", (table) => {
      columns.indexWhereSet(knex, table, ["deadline_at"], "deadline_at", { name: "job_attempts_deadline" });
    });
    await addIndex(knex, columns, "job_attempts", "job_attempts_cancel", (table) => {
      columns.indexWhereSet(knex, table, ["provider_id", "cancel_due_at"], "cancel_due_at", { name: "job_attempts_cancel" });
    });
    await addIndex(knex, columns, "job_attempts", "job_attempts_renders", (table) => {
      columns.indexWhereSet(knex, table, ["provider_id", "model_id", "finished_at"], "finished_at", { name: "job_attempts_renders" });
    });
    if (await columns.hasIndex(knex, "jobs", "jobs_cancel_due")) {
      await knex.schema.alterTable("jobs", (table) => void table.dropIndex([], "jobs_cancel_due"));
    }
    // Plain SQL: on SQLite, knex would build the table again.
    if (await knex.schema.hasColumn("jobs", "cancel_due_at")) await knex.raw("ALTER TABLE jobs DROP COLUMN cancel_due_at");
    if (await knex.schema.hasColumn("jobs", "handle")) await knex.raw("ALTER TABLE jobs DROP COLUMN handle");
  },
};

async function fillIn(knex: Knex): Promise<void> {
  await knex.raw("UPDATE job_attempts SET model_id = (SELECT served_model_id FROM jobs WHERE jobs.id = job_attempts.job_id) WHERE model_id IS NULL");
  await fillInCancels(knex);
  await fillInLive(knex);
  await fillInEnded(knex);
}

interface LiveRow {
  readonly id: string;
  readonly phase: string;
  readonly attempt: number;
  readonly handle: unknown;
}

interface AttemptRow {
  readonly number: number;
  readonly outcome: string | null;
  readonly started_at: number;
  readonly ended_at: number | null;
}

async function fillInLive(knex: Knex): Promise<void> {
  const live = await knex<LiveRow>("jobs").whereIn("phase", ["submitting", "rendering"]).select("id", "phase", "attempt", "handle");
  for (const job of live) {
    const tried = knex("job_attempts").where({ job_id: job.id }).select("number", "outcome", "started_at", "ended_at");
    for (const attempt of (await tried) as AttemptRow[]) {
      const changes = attempt.number === job.attempt && job.phase === "rendering" ? rendering(job, attempt) : unsure(attempt);
      if (changes !== null) await knex("job_attempts").where({ job_id: job.id, number: attempt.number }).update(changes);
    }
  }
}

function rendering(job: LiveRow, attempt: AttemptRow): object {
  const handle = (typeof job.handle === "string" ? JSON.parse(job.handle) : job.handle) as { data: Record<string, unknown> } | null;
  const acceptedAt = attempt.ended_at ?? attempt.started_at;
  const bought = { accepted_at: acceptedAt, deadline_at: acceptedAt + RENDER_MS };
  const result = handle?.data[DELIVERED];
  if (result === undefined) return { ...bought, state: "accepted", handle: JSON.stringify(handle) };
  return { ...bought, state: "finished", finished_at: acceptedAt, result: JSON.stringify(result) };
}

/** An attempt whose outcome was not known; null for one that is over. */
function unsure({ outcome, started_at: startedAt }: AttemptRow): object | null {
  if (outcome !== null && outcome !== "outcome_unknown" && outcome !== "completed") return null;
  const state = outcome === null ? "intended" : outcome === "completed" ? "finished" : "unknown";
  const deadline = startedAt + (outcome === "completed" ? RENDER_MS : GRACE_MS);
  return { state, deadline_at: deadline, call_ends_at: startedAt + GRACE_MS };
}

/** Work whose job had ended, and which its provider was to be asked to cancel. */
async function fillInCancels(knex: Knex): Promise<void> {
  const due = await knex("jobs").whereNotNull("cancel_due_at").select("id", "attempt", "handle", "cancel_due_at");
  for (const { id, attempt, handle, cancel_due_at: dueAt } of due as readonly Record<string, unknown>[]) {
    if (handle === null) continue;
    const text = typeof handle === "string" ? handle : JSON.stringify(handle);
    const changes = { state: "abandoned", loss: "cancelled", handle: text, cancel_due_at: dueAt };
    await knex("job_attempts").where({ job_id: id, number: attempt }).update(changes);
  }
}

/** Of ended jobs, and attempts that were over: what the last word about each says. */
async function fillInEnded(knex: Knex): Promise<void> {
  const completed = "(SELECT COUNT(*) FROM jobs WHERE jobs.id = job_attempts.job_id AND jobs.status = 'completed')";
  await knex.raw(
    `UPDATE job_attempts SET state = CASE
       WHEN outcome = 'completed' AND ${completed} > 0 THEN 'settled'
       WHEN outcome IN ('unavailable', 'rate_limited', 'misconfigured', 'out_of_credit', 'content_rejected', 'invalid_input') THEN 'refused'
       WHEN outcome IN ('failed', 'timeout', 'cancelled', 'gone', 'completed') THEN 'failed'
       ELSE 'abandoned' END,
     accepted_at = CASE WHEN outcome IN ('completed', 'accepted') THEN COALESCE(ended_at, started_at) ELSE accepted_at END,
     loss = CASE
       WHEN outcome = 'completed' AND ${completed} > 0 THEN NULL
       WHEN outcome = 'completed' THEN 'files_lost'
       WHEN outcome = 'accepted' THEN 'deadline'
       WHEN outcome IN ('failed', 'timeout', 'cancelled', 'gone') AND billable <> 'no' THEN 'provider_failed'
       WHEN outcome IS NULL OR outcome = 'outcome_unknown' THEN 'unknown' ELSE NULL END
     WHERE state IS NULL`,
  );
}
