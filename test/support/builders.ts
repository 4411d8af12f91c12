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
import type { Playlist } from "../../core/library/playlist.js";
import type { Track, TrackAsset } from "../../core/library/track.js";
import type { LoggedRequest } from "../../core/ports/request-log.js";

const ulid = monotonicFactory();

/** A moment that no builder depends on: 2026-11-21T06:30:00.000Z. */
export const NOON = Date.UTC(2026, 10, 21, 6, 30);

/** A new id, sorted after earlier ones. */
export function anId<P extends IdPrefix>(prefix: P): IdByPrefix[P] {
  return `${prefix}_${ulid().toLowerCase()}` as IdByPrefix[P];
}

/** Of a tier in tests without uploads. */
export const NO_UPLOADS: UploadQuota = { maxTracks: 0, maxBytes: 0 };

/** 64 unique hexadecimal digits. */
export function aHash(): string {
  return randomBytes(32).toString("hex");
}

export function anAccount(overrides: Partial<Account> = {}): Account {
  return {
    id: anId("acct"),
    name: "Nightingale Radio",
    tier: "pro",
    emailVerified: false,
    termsAcceptedAt: NOON,
    suspendedAt: null,
    suspendedReason: null,
    createdAt: NOON,
    ...overrides,
  };
}

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
    ...overrides,
  };
}

export function aBalance(overrides: Partial<Balance> = {}): Balance {
  return { ...emptyBalance(anId("acct")), ...overrides };
}

/** A grant of one pack credit by default. */
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

/** One more entry on a balance; an empty grant by default. */
export function aMovement(before: Balance, draft: Partial<EntryDraft> = {}): Movement {
  const { balance, entry } = post(before, { kind: "grant", createdAt: NOON, ...draft });
  return { after: balance, entries: [entry] };
}

/** The movement that reserves the job's credits. */
export function aReservation(before: Balance, job: Job): Movement {
  const { balance, entry } = postReservation(before, job.id, job.reserved, job.createdAt);
  return { after: balance, entries: [entry] };
}

/** The movement that charges or refunds the job's credits. */
export function aSettlement(before: Balance, job: Job, kind: "charge" | "refund"): Movement {
  const { balance, entry } = postSettlement(before, job.id, job.reserved, kind, NOON);
  return { after: balance, entries: [entry] };
}

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

/** A job that waits for its first worker. */
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
    reserved,
    creditsCharged: reserved.monthly + reserved.pack,
    status: "queued",
    phase: "waiting",
    attempt: 0,
    refusals: 0,
    crashes: 0,
    collectionsBegun: 0,
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

/** A record that is valid for a day. */
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

/** A private playlist without tracks. */
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

/** A log row of a successful read of the balance. */
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
