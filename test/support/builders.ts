import { randomBytes } from "node:crypto";
import { monotonicFactory } from "ulid";
import type { Account, ApiKey } from "../../core/ports/account.js";
import type { UploadQuota } from "../../core/accounts/tiers.js";
import {
  type Balance,
  emptyBalance,
  type EntryDraft,
  type LedgerEntry,
  type Movement,
  post,
} from "../../core/credits/balance.js";
import { postReservation } from "../../core/credits/reserve.js";
import { postSettlement } from "../../core/credits/settle.js";
import type { IdempotencyRecord } from "../../core/ports/idempotency-store.js";
import type { IdByPrefix, IdPrefix } from "../../core/ids.js";
import type { Job, JobAttempt, JobRequest } from "../../core/jobs/job.js";
import type { Retention } from "../../core/maintenance/retention.js";
import type { Playlist } from "../../core/library/playlist.js";
import type { Track, TrackAsset } from "../../core/library/track.js";
import type { JobNotification } from "../../core/ports/job-queue.js";
import type { LoggedRequest } from "../../core/ports/request-log.js";

const ulid = monotonicFactory();
const DAY_MS = 86_400_000;

/** A moment that no builder depends on: 2026-11-21T06:30:00.000Z. */
export const NOON = Date.UTC(2026, 10, 21, 6, 30);

/**
 * A new id of this prefix, sorted after earlier ones.
 *
 * @example
 * const account = anAccount({ id: anId("acct") });
 */
export function anId<P extends IdPrefix>(prefix: P): IdByPrefix[P] {
  return `${prefix}_${ulid().toLowerCase()}` as IdByPrefix[P];
}

/** How long everything is kept by default. */
export const RETENTION: Retention = {
  requestsMs: 365 * DAY_MS,
  attemptsMs: 730 * DAY_MS,
  eventsMs: 30 * DAY_MS,
  callbacksMs: 14 * DAY_MS,
  requestLogMs: 30 * DAY_MS,
  failedAudioMs: DAY_MS / 24,
};

/** Of a tier in tests without uploads. */
export const NO_UPLOADS: UploadQuota = { maxTracks: 0, maxBytes: 0 };

/**
 * 64 unique hexadecimal digits, as a hash of a token or of a request.
 *
 * @example
 * const key = anApiKey({ tokenHash: aHash() });
 */
export function aHash(): string {
  return randomBytes(32).toString("hex");
}

/**
 * An account of tier pro that accepted the terms and is not suspended.
 *
 * @example
 * const suspended = anAccount({ suspendedAt: NOON, suspendedReason: "a leaked key" });
 */
export function anAccount(overrides: Partial<Account> = {}): Account {
  return {
    id: anId("acct"),
    externalId: null,
    name: "Nightingale Radio",
    tier: "pro",
    emailVerified: false,
    termsAcceptedAt: NOON,
    suspendedAt: null,
    suspendedReason: null,
    deletedAt: null,
    createdAt: NOON,
    ...overrides,
  };
}

/**
 * A key that creates and reads generations and never expires, of an account of its own.
 *
 * @example
 * const account = anAccount();
 * const key = anApiKey({ accountId: account.id, scopes: ["models:read"] });
 */
export function anApiKey(overrides: Partial<ApiKey> = {}): ApiKey {
  return {
    id: anId("key"),
    accountId: anId("acct"),
    name: null,
    tokenHash: aHash(),
    shownPrefix: "frm_0A1b2C3d",
    scopes: ["generations:create", "generations:read"],
    createdAt: NOON,
    revokedAt: null,
    expiresAt: null,
    lastUsedAt: null,
    ...overrides,
  };
}

/**
 * An empty balance of an account of its own.
 *
 * @example
 * const balance = aBalance({ monthly: 100, pack: 20 });
 */
export function aBalance(overrides: Partial<Balance> = {}): Balance {
  return { ...emptyBalance(anId("acct")), ...overrides };
}

/**
 * A ledger entry: a grant of one pack credit.
 *
 * @example
 * const charge = anEntry({ kind: "charge", jobId: anId("job"), pack: 0, reservedPack: -5, spent: 5 });
 */
export function anEntry(overrides: Partial<LedgerEntry> = {}): LedgerEntry {
  return {
    accountId: anId("acct"),
    seq: 1,
    kind: "grant",
    jobId: null,
    monthly: 0,
    pack: 1,
    reservedMonthly: 0,
    reservedPack: 0,
    spent: 0,
    reference: null,
    createdAt: NOON,
    ...overrides,
  };
}

/**
 * One more entry on a balance, as a ledger store applies it: an empty grant.
 *
 * @example
 * const granted = aMovement(aBalance(), { pack: 50 });
 * assert.equal(granted.after.pack, 50);
 */
export function aMovement(before: Balance, draft: Partial<EntryDraft> = {}): Movement {
  const { balance, entry } = post(before, { kind: "grant", createdAt: NOON, ...draft });
  return { after: balance, entries: [entry] };
}

/**
 * The movement that reserves a job's credits.
 *
 * @example
 * const reserved = aReservation(aBalance({ monthly: 100 }), aJob());
 * assert.equal(reserved.after.reservedMonthly, 5);
 */
export function aReservation(before: Balance, job: Job): Movement {
  const { balance, entry } = postReservation(before, job.id, job.reserved, job.createdAt);
  return { after: balance, entries: [entry] };
}

/**
 * The movement that charges or refunds a job's credits after they were reserved.
 *
 * @example
 * const job = aJob();
 * const { after } = aReservation(aBalance({ monthly: 100 }), job);
 * assert.equal(aSettlement(after, job, "charge").after.spent, 5);
 */
export function aSettlement(before: Balance, job: Job, kind: "charge" | "refund"): Movement {
  const { balance, entry } = postSettlement(before, job.id, job.reserved, kind, NOON);
  return { after: balance, entries: [entry] };
}

/**
 * What a caller asked for: 30 seconds of instrumental music.
 *
 * @example
 * const job = aJob({ request: aJobRequest({ prompt: "slow sad piano", durationSeconds: 60 }) });
 */
export function aJobRequest(overrides: Partial<JobRequest> = {}): JobRequest {
  return {
    prompt: "rain on a tin roof",
    lyrics: null,
    durationSeconds: 30,
    instrumental: true,
    client: null,
    metadata: null,
    options: {},
    sourceTrackId: null,
    sourceUse: null,
    ...overrides,
  };
}

/**
 * A queued job of 5 monthly credits that waits for its first worker.
 *
 * @example
 * const job = aJob({ accountId: anAccount().id, reserved: { monthly: 0, pack: 8 } });
 */
export function aJob(overrides: Partial<Job> = {}): Job {
  const createdAt = overrides.createdAt ?? NOON;
  const reserved = overrides.reserved ?? { monthly: 5, pack: 0 };
  return {
    id: anId("job"),
    accountId: anId("acct"),
    kind: "music",
    operation: "music_synth_full",
    providerId: "synth",
    modelId: "synth/v1",
    servedModelId: "synth/v1",
    request: aJobRequest(),
    reference: null,
    requestId: null,
    requestedAt: null,
    trace: null,
    reserved,
    creditsCharged: reserved.monthly + reserved.pack,
    status: "queued",
    phase: "waiting",
    attempt: 0,
    refusals: 0,
    crashes: 0,
    collectionsBegun: 0,
    cancelRequestedAt: null,
    fence: 0,
    leaseOwner: null,
    dueAt: createdAt,
    error: null,
    createdAt,
    completedAt: null,
    endedBy: null,
    ...overrides,
  };
}

/**
 * An attempt that is recorded as intended, before its provider is called.
 *
 * @example
 * const job = aJob();
 * const attempt = anAttempt({ jobId: job.id, state: "accepted", acceptedAt: NOON });
 */
export function anAttempt(overrides: Partial<JobAttempt> = {}): JobAttempt {
  return {
    id: anId("att"),
    jobId: anId("job"),
    number: 1,
    providerId: "synth",
    modelId: "synth/v1",
    state: "intended",
    handle: null,
    result: null,
    progress: null,
    files: null,
    startedAt: NOON,
    callEndsAt: null,
    acceptedAt: null,
    finishedAt: null,
    deadlineAt: null,
    overdueSince: null,
    endReportedAt: null,
    cancelDueAt: null,
    endedAt: null,
    outcome: null,
    message: null,
    cost: null,
    billable: null,
    loss: null,
    ...overrides,
  };
}

/**
 * The stored response of a request with an idempotency key, valid for a day.
 *
 * @example
 * const record = anIdempotencyRecord({ expiresAt: NOON + 1_000 });
 */
export function anIdempotencyRecord(overrides: Partial<IdempotencyRecord> = {}): IdempotencyRecord {
  const createdAt = overrides.createdAt ?? NOON;
  return {
    accountId: anId("acct"),
    keyHash: aHash(),
    shape: aHash(),
    body: aHash(),
    jobId: anId("job"),
    response: { status: 202, body: '{"id":"job_1","status":"queued"}' },
    createdAt,
    expiresAt: createdAt + 24 * 3_600_000,
    ...overrides,
  };
}

/**
 * The mix of a track: an mp3 of 30 seconds.
 *
 * @example
 * const track = aTrack({ assets: [anAsset(), anAsset({ role: "stem", label: "drums" })] });
 */
export function anAsset(overrides: Partial<TrackAsset> = {}): TrackAsset {
  return {
    role: "mix",
    label: "full",
    audioKey: `audio/${anId("trk")}.mp3`,
    contentType: "audio/mpeg",
    sizeBytes: 480_000,
    durationSeconds: 30,
    ...overrides,
  };
}

/**
 * A private track with one mix that belongs to no job.
 *
 * @example
 * const track = aTrack({ title: "Evening rain", visibility: "public" });
 */
export function aTrack(overrides: Partial<Track> = {}): Track {
  return {
    id: anId("trk"),
    accountId: anId("acct"),
    jobId: null,
    position: 0,
    title: "Rain on a tin roof",
    artistLabel: "synth",
    bpm: null,
    prompt: "rain on a tin roof",
    visibility: "private",
    tags: { mood: [], activity: [], genre: [], other: [] },
    assets: [anAsset()],
    waveform: null,
    shareToken: null,
    linkGeneration: 0,
    origin: null,
    createdAt: NOON,
    ...overrides,
  };
}

/**
 * A private playlist without tracks.
 *
 * @example
 * const playlist = aPlaylist({ trackIds: [aTrack().id] });
 */
export function aPlaylist(overrides: Partial<Playlist> = {}): Playlist {
  return {
    id: anId("pls"),
    accountId: anId("acct"),
    title: "Quiet evenings",
    visibility: "private",
    trackIds: [],
    createdAt: NOON,
    ...overrides,
  };
}

/**
 * A row of the request log: a successful read of the balance.
 *
 * @example
 * const refused = aLoggedRequest({ status: 402, errorCode: "insufficient_credits" });
 */
export function aLoggedRequest(overrides: Partial<LoggedRequest> = {}): LoggedRequest {
  return {
    id: anId("req"),
    accountId: anId("acct"),
    method: "GET",
    path: "/api/v1/credits",
    route: "/api/v1/credits",
    status: 200,
    errorCode: null,
    requestBytes: null,
    responseBytes: 88,
    jobId: null,
    client: null,
    createdAt: NOON,
    count: 1,
    ...overrides,
  };
}

/**
 * A notification for workers about a job of its own, which no other test sends.
 *
 * @example
 * const notification = aNotification("synth");
 */
export function aNotification(providerId = "synth"): JobNotification {
  return { jobId: anId("job"), providerId };
}
