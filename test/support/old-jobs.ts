import { toJobRow } from "../../adapters/storage/sql/jobs/job-tables.js";
import { toAssetRows, TRACKS } from "../../adapters/storage/sql/library/track-tables.js";
import type { AccountId, AttemptId, JobId } from "../../core/ids.js";
import { CANCELLED_ERROR, DEADLINE_ERROR, jobErrorOf } from "../../core/jobs/job-errors.js";
import type { Job, JobAttempt } from "../../core/jobs/job.js";
import type { ProviderHandle } from "../../core/ports/music-provider.js";
import { aJob, anAsset, anId, aReservation, aSettlement, aTrack } from "./builders.js";
import type { SqliteUnderTest } from "./databases.js";
import { SCRIPTED_TRACK } from "./doubles/scripted-provider.js";

const MINUTE = 60_000;
export const OLD_COST = 10;

/** A job from before attempts had states of their own. */
export interface OldJob {
  readonly phase: Job["phase"];
  readonly status: Job["status"];
  /** The outcome of each of its attempts, in order. */
  readonly outcomes: readonly JobAttempt["outcome"][];
  readonly handle?: "plugin's" | "delivered";
  /** A worker had claimed it, and is lost. */
  readonly isOwned?: boolean;
  readonly error?: Job["error"];
  readonly isToBeCancelled?: boolean;
}

const SUBMITTING = { phase: "submitting", status: "processing" } as const;
const RENDERING = { phase: "rendering", status: "processing" } as const;
const FAILED = { phase: "ended", status: "failed" } as const;
const TO_CANCEL = { ...FAILED, error: CANCELLED_ERROR, isToBeCancelled: true } as const;

/** One in every phase. */
export const OLD_JOBS = {
  waiting: { phase: "waiting", status: "queued", outcomes: [] },
  "waiting, refused before": { phase: "waiting", status: "queued", outcomes: ["rate_limited", "unavailable"] },
  claimed: { phase: "waiting", status: "processing", outcomes: [], isOwned: true },
  "submitting, its worker lost": { ...SUBMITTING, outcomes: [null], isOwned: true },
  "submitting, its outcome unknown": { ...SUBMITTING, outcomes: ["outcome_unknown"] },
  "submitting, repeated": { ...SUBMITTING, outcomes: [null, "outcome_unknown", "unavailable"] },
  "submitting, its result in memory": { ...SUBMITTING, outcomes: ["completed"], isOwned: true },
  rendering: { ...RENDERING, outcomes: ["unavailable", "accepted"], handle: "plugin's" },
  "rendering, repeated": {
    ...RENDERING,
    outcomes: [null, "outcome_unknown", "accepted"],
    handle: "plugin's",
    isOwned: true,
  },
  "rendering, behind a link": { ...RENDERING, outcomes: ["completed"], handle: "delivered" },
  completed: { phase: "ended", status: "completed", outcomes: ["outcome_unknown", "completed"] },
  refused: { ...FAILED, outcomes: ["unavailable", "misconfigured"], error: jobErrorOf("unavailable") },
  "refused for its content": { ...FAILED, outcomes: ["content_rejected"], error: jobErrorOf("content_rejected") },
  "failed there": { ...FAILED, outcomes: ["failed"], error: jobErrorOf("failed") },
  "gone there": { ...FAILED, outcomes: ["gone"], error: jobErrorOf("gone") },
  "never heard of": { ...FAILED, outcomes: ["outcome_unknown"], error: jobErrorOf("outcome_unknown") },
  "ended with its worker": { ...FAILED, outcomes: [null], error: jobErrorOf("outcome_unknown") },
  "its files lost": { ...FAILED, outcomes: ["completed"], error: jobErrorOf("failed") },
  overdue: { ...FAILED, outcomes: ["accepted"], error: DEADLINE_ERROR },
  cancelled: { ...FAILED, outcomes: ["accepted"], error: CANCELLED_ERROR },
  "to be cancelled": { ...TO_CANCEL, outcomes: ["unavailable", "accepted"], handle: "plugin's" },
  "overdue, to be cancelled": { ...TO_CANCEL, outcomes: ["accepted"], handle: "plugin's", error: DEADLINE_ERROR },
  "behind a link, to be cancelled": { ...TO_CANCEL, outcomes: ["completed"], handle: "delivered" },
} as const satisfies Record<string, OldJob>;

export type OldName = keyof typeof OLD_JOBS;

/** The ids of an old job, and of its attempts in their order. */
export interface OldIds {
  readonly id: JobId;
  readonly attempts: readonly AttemptId[];
}

export const LINK = "https://cdn.test/song.mp3";

/**
 * Writes one of these jobs, 40 minutes old, into a storage with the old schema. The calls of running ones have just
 * been made.
 */
export async function insertOldJob(
  storage: SqliteUnderTest,
  accountId: AccountId,
  old: OldJob,
  now: number,
): Promise<OldIds> {
  const isEnded = old.phase === "ended";
  const createdAt = now - 40 * MINUTE;
  const job = aJob({
    accountId,
    providerId: "scripted",
    modelId: "scripted/song",
    servedModelId: "scripted/song",
    reserved: { monthly: 0, pack: OLD_COST },
    creditsCharged: old.status === "failed" ? 0 : OLD_COST,
    status: old.status,
    phase: old.phase,
    attempt: old.outcomes.length,
    fence: 3,
    leaseOwner: old.isOwned === true ? anId("prc") : null,
    dueAt: isEnded ? null : now,
    error: old.error ?? null,
    createdAt,
    completedAt: isEnded ? now - MINUTE : null,
  });
  const attempts = old.outcomes.map((outcome, index) => ({
    id: anId("att"),
    job_id: job.id,
    number: index + 1,
    provider_id: "scripted",
    // The last of the accepted ones was called long ago: for a cancel the time of the job's end counts.
    started_at: now - (old.outcomes.length - index) * MINUTE - (isEnded ? 30 * MINUTE : MINUTE),
    ended_at: outcome === null ? null : now - (isEnded ? 30 * MINUTE : MINUTE),
    outcome,
    billable: outcome === null || outcome === "unavailable" ? "no" : outcome === "completed" ? "yes" : "unknown",
  }));
  const task = attempts.at(-1)?.id;
  const known = old.handle === "delivered" ? DELIVERED : { version: 1, data: { task } };
  const handle = old.handle === undefined ? null : JSON.stringify(known);
  const {
    ended_by: _endedBy,
    collections_begun: _collectionsBegun,
    cancel_requested_at: _cancel,
    trace: _trace,
    shown_request: _shownRequest,
    ...row
  } = toJobRow(job);
  const cancelDueAt = old.isToBeCancelled === true ? now - MINUTE : null;
  await storage.database.write("fermata_jobs").insert({ ...row, handle, cancel_due_at: cancelDueAt });
  if (attempts.length > 0) await storage.database.write("fermata_job_attempts").insert(attempts);
  await storage.apply(aReservation(await storage.balanceOf(accountId), job));
  if (isEnded) {
    const kind = old.status === "completed" ? "charge" : "refund";
    await storage.apply(aSettlement(await storage.balanceOf(accountId), job, kind));
  }
  if (old.status === "completed") {
    const track = aTrack({ jobId: job.id, accountId, assets: [anAsset()] });
    const { link_generation: _linkGeneration, ...trackRow } = TRACKS.toRow(track);
    await storage.database.write("fermata_tracks").insert(trackRow);
    await storage.database.write("fermata_track_assets").insert(toAssetRows(track));
  }
  return { id: job.id, attempts: attempts.map(({ id }) => id) };
}

const DELIVERED: ProviderHandle = {
  version: 0,
  data: {
    "fermata:delivered": {
      state: "completed",
      tracks: [
        {
          ...SCRIPTED_TRACK,
          assets: [
            { role: "mix", label: "full", contentType: null, durationSeconds: 3, source: { kind: "url", url: LINK } },
          ],
        },
      ],
    },
  },
};
