import type { Knex } from "knex";
import type { TableNames } from "../table-names.js";
import { addColumn, addIndex, type Migration } from "./migration.js";

/** What the core put into a handle for a result that the provider returned at once. */
const DELIVERED = "fermata:delivered";
/** The deadlines that were the defaults before attempts had their own, in milliseconds. */
const RENDER_MS = 3_600_000;
const GRACE_MS = 600_000;
/** In the error of a job that an operator cancelled. */
const CANCELLED = '"reason":"cancelled"';

/** Attempts become purchases: each with a state, a handle, a result and a deadline of its own. */
export const attempts: Migration = {
  name: "0017-attempts",
  async up(knex, columns, names) {
    await addColumn(knex, names.of("jobs"), "ended_by", (table, name) => columns.id(table, name));
    await addColumn(knex, names.of("job_attempts"), "model_id", (table, name) => columns.id(table, name, 100));
    await addColumn(knex, names.of("job_attempts"), "state", (table, name) => columns.id(table, name, 20));
    await addColumn(knex, names.of("job_attempts"), "loss", (table, name) => columns.id(table, name, 30));
    for (const moment of [
      "call_ends_at",
      "accepted_at",
      "finished_at",
      "deadline_at",
      "overdue_since",
      "end_reported_at",
      "cancel_due_at",
    ]) {
      await addColumn(knex, names.of("job_attempts"), moment, (table, name) => columns.integer(table, name));
    }
    for (const text of ["handle", "result", "files"])
      await addColumn(knex, names.of("job_attempts"), text, (table, name) => columns.json(table, name));
    // Once the columns of before are gone, everything is filled in.
    if (await knex.schema.hasColumn(names.of("jobs"), "handle")) await fillIn(knex, names);
    await addIndex(knex, columns, names.of("job_attempts"), names.of("job_attempts_deadline"), (table) => {
      columns.indexWhereSet(knex, table, ["deadline_at"], "deadline_at", { name: names.of("job_attempts_deadline") });
    });
    await addIndex(knex, columns, names.of("job_attempts"), names.of("job_attempts_cancel"), (table) => {
      columns.indexWhereSet(knex, table, ["provider_id", "cancel_due_at"], "cancel_due_at", {
        name: names.of("job_attempts_cancel"),
      });
    });
    await addIndex(knex, columns, names.of("job_attempts"), names.of("job_attempts_renders"), (table) => {
      columns.indexWhereSet(knex, table, ["provider_id", "model_id", "finished_at"], "finished_at", {
        name: names.of("job_attempts_renders"),
      });
    });
    if (await columns.hasIndex(knex, names.of("jobs"), names.of("jobs_cancel_due"))) {
      await knex.schema.alterTable(names.of("jobs"), (table) => void table.dropIndex([], names.of("jobs_cancel_due")));
    }
    // The handle goes first: without it, nothing is filled in again.
    for (const column of ["handle", "cancel_due_at"]) {
      // Plain SQL: on SQLite, knex would build the table again.
      if (await knex.schema.hasColumn(names.of("jobs"), column))
        await knex.raw(names.in(`ALTER TABLE {jobs} DROP COLUMN ${column}`));
    }
  },
};

async function fillIn(knex: Knex, names: TableNames): Promise<void> {
  // Which model a provider before a fallback was asked for is not known any more.
  await knex.raw(
    names.in(`UPDATE {job_attempts} SET model_id = (SELECT served_model_id FROM {jobs} AS j
       WHERE j.id = {job_attempts}.job_id AND j.provider_id = {job_attempts}.provider_id) WHERE model_id IS NULL`),
  );
  await fillInCancels(knex, names);
  await fillInLive(knex, names);
  await fillInEnded(knex, names);
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

async function fillInLive(knex: Knex, names: TableNames): Promise<void> {
  const live = knex<LiveRow>(names.of("jobs")).whereIn("phase", ["submitting", "rendering"]);
  for (const job of await live.select("id", "phase", "attempt", "handle")) {
    const tried = knex(names.of("job_attempts"))
      .where({ job_id: job.id })
      .select("number", "outcome", "started_at", "ended_at");
    for (const attempt of (await tried) as AttemptRow[]) {
      const changes = liveChanges(job, attempt);
      if (changes === null) continue;
      await knex(names.of("job_attempts")).where({ job_id: job.id, number: attempt.number }).update(changes);
    }
  }
}

/** null: the attempt was over. */
function liveChanges(job: LiveRow, attempt: AttemptRow): object | null {
  if (job.phase === "submitting") return unsure(attempt);
  return attempt.number === job.attempt ? rendering(job, attempt) : before(attempt);
}

type StoredHandle = { readonly data: Readonly<Record<string, unknown>> } | null;

function handleIn({ handle }: { readonly handle: unknown }): StoredHandle {
  return (typeof handle === "string" ? JSON.parse(handle) : handle) as StoredHandle;
}

function rendering(job: LiveRow, attempt: AttemptRow): object {
  const handle = handleIn(job);
  const acceptedAt = attempt.ended_at ?? attempt.started_at;
  // The time for which no worker ran, before the migration, is taken off no render.
  const bought = { accepted_at: acceptedAt, deadline_at: Math.max(acceptedAt, Date.now()) + RENDER_MS };
  const result = handle?.data[DELIVERED];
  if (result !== undefined) {
    return { ...bought, state: "finished", finished_at: acceptedAt, result: JSON.stringify(result) };
  }
  return { ...bought, state: "accepted", handle: handle === null ? null : JSON.stringify(handle) };
}

function isUnsure({ outcome }: AttemptRow): boolean {
  return outcome === null || outcome === "outcome_unknown";
}

/** An attempt whose outcome was not known, or whose result was in the memory of a worker; null for one that is over. */
function unsure(attempt: AttemptRow): object | null {
  const { outcome, started_at: startedAt, ended_at: endedAt } = attempt;
  const graceEndsAt = startedAt + GRACE_MS;
  const call = { call_ends_at: graceEndsAt };
  if (isUnsure(attempt)) return { ...call, state: outcome === null ? "intended" : "unknown", deadline_at: graceEndsAt };
  if (outcome !== "completed") return null;
  const madeAt = endedAt ?? startedAt;
  return { ...call, state: "finished", accepted_at: madeAt, finished_at: madeAt, deadline_at: startedAt + RENDER_MS };
}

/** An attempt before the rendered one. It cost nothing: only a provider that makes nothing new is called again. */
function before(attempt: AttemptRow): object | null {
  return isUnsure(attempt) ? { state: "abandoned", cost: null, billable: "no" } : null;
}

/** Work whose job had ended, and which its provider was to be asked to cancel. */
async function fillInCancels(knex: Knex, names: TableNames): Promise<void> {
  const due = knex<CancelRow>(names.of("jobs")).whereNotNull("cancel_due_at");
  for (const job of await due.select("id", "attempt", "handle", "cancel_due_at", "completed_at", "error")) {
    const known = handleIn(job);
    // What was delivered behind a link is not there to be cancelled.
    const isThere = known !== null && known.data[DELIVERED] === undefined;
    const cancel = isThere ? { handle: JSON.stringify(known), cancel_due_at: job.cancel_due_at } : {};
    const loss = job.error?.includes(CANCELLED) === true ? "cancelled" : "deadline";
    const changes = { state: "abandoned", loss, ended_at: job.completed_at, ...cancel };
    await knex(names.of("job_attempts")).where({ job_id: job.id, number: job.attempt }).update(changes);
  }
}

interface CancelRow {
  readonly id: string;
  readonly attempt: number;
  readonly handle: unknown;
  readonly cancel_due_at: number;
  readonly completed_at: number;
  readonly error: string | null;
}

/** Of ended jobs, and attempts that were over: what the last word about each says. */
async function fillInEnded(knex: Knex, names: TableNames): Promise<void> {
  const ofJobs = (condition: string): string =>
    `EXISTS (SELECT 1 FROM {jobs} AS j WHERE j.id = {job_attempts}.job_id AND ${condition})`;
  const completed = ofJobs("j.status = 'completed'");
  await knex.raw(
    names.in(`UPDATE {job_attempts} SET state = CASE
       WHEN outcome = 'completed' AND ${completed} THEN 'settled'
       WHEN outcome IN ('unavailable', 'rate_limited', 'misconfigured', 'out_of_credit') THEN 'refused'
       WHEN outcome IN ('content_rejected', 'invalid_input') THEN 'refused'
       WHEN outcome IN ('failed', 'timeout', 'cancelled', 'gone', 'completed') THEN 'failed'
       ELSE 'abandoned' END,
     accepted_at = CASE
       WHEN outcome IN ('completed', 'accepted') THEN COALESCE(ended_at, started_at) ELSE accepted_at END,
     loss = CASE
       WHEN outcome = 'accepted' AND ${completed} THEN 'late'
       WHEN (outcome IS NULL OR outcome IN ('outcome_unknown', 'completed')) AND ${completed} THEN NULL
       WHEN outcome = 'completed' THEN 'files_lost'
       WHEN outcome = 'accepted' AND ${ofJobs("j.error LIKE :cancelled")} THEN 'cancelled'
       WHEN outcome = 'accepted' THEN 'deadline'
       WHEN outcome IN ('failed', 'timeout', 'cancelled', 'gone') AND billable <> 'no' THEN 'provider_failed'
       WHEN outcome IS NULL OR outcome = 'outcome_unknown' THEN 'unknown' ELSE NULL END
     WHERE state IS NULL`),
    { cancelled: `%${CANCELLED}%` },
  );
}
