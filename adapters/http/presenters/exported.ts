import type { ExportedRecord } from "../../../core/accounts/export-account.js";
import { available, type Balance } from "../../../core/credits/balance.js";
import type { JobOutput } from "../../../core/jobs/job.js";
import type { ShownJob } from "../../../core/jobs/shown-job.js";
import type { Lyrics } from "../../../core/library/lyrics.js";
import type { Track, TrackAsset } from "../../../core/library/track.js";
import type { Account } from "../../../core/ports/account.js";
import { presentLogEntry } from "./log-entry.js";
import { seconds, timestamp } from "./time.js";
import { presentWebhookEndpoint } from "./webhook-endpoint.js";

type Members = Readonly<Record<string, unknown>>;

/** The path of a file of an export, as far as the export has files. */
export function exportedPath(audioKey: string): string {
  return `audio/${audioKey}`;
}

/** One line of an export, as JSON: `type` says what it is. */
export function presentExported(exported: ExportedRecord): Members {
  return { type: exported.type, ...membersOf(exported) };
}

function membersOf(exported: ExportedRecord): Members {
  switch (exported.type) {
    case "export":
      return { version: exported.version, account: exported.accountId, exported_at: timestamp(exported.at) };
    case "account":
      return accountMembers(exported.account, exported.balance);
    case "key": {
      const { key } = exported;
      return {
        ...{ id: key.id, name: key.name, prefix: key.shownPrefix, scopes: key.scopes },
        ...moments({ created_at: key.createdAt, revoked_at: key.revokedAt, expires_at: key.expiresAt }),
        ...moments({ last_used_at: key.lastUsedAt }),
      };
    }
    case "ledger_entry": {
      const { entry } = exported;
      return {
        ...{ number: entry.seq, kind: entry.kind, job: entry.jobId, monthly: entry.monthly, pack: entry.pack },
        ...{ reserved: entry.reservedMonthly + entry.reservedPack, spent: entry.spent, reference: entry.reference },
        ...moments({ created_at: entry.createdAt }),
      };
    }
    case "job":
      return jobMembers(exported.job, exported.outputs);
    case "track":
      return trackMembers(exported.track, exported.lyrics);
    case "playlist": {
      const { id, title, visibility, trackIds, createdAt } = exported.playlist;
      return { id, title, visibility, tracks: trackIds, ...moments({ created_at: createdAt }) };
    }
    case "webhook_endpoint":
      return { ...presentWebhookEndpoint(exported.endpoint) };
    case "webhook_event": {
      const { id, jobId, body, createdAt } = exported.event;
      return { id, job: jobId, body: JSON.parse(body) as unknown, ...moments({ created_at: createdAt }) };
    }
    case "request":
      return { ...presentLogEntry(exported.request), client: exported.request.client };
    case "request_count": {
      const { startsAt, route, status, count } = exported.counted;
      return { endpoint: route, status_code: status, requests: count, ...moments({ starts_at: startsAt }) };
    }
    case "audit_record": {
      const { number, action, targets, fields, createdAt } = exported.record;
      return { number, action, targets, fields, ...moments({ created_at: createdAt }) };
    }
    case "end":
      return { records: exported.records };
  }
}

function accountMembers(account: Account, balance: Balance | null): Members {
  return {
    ...{ id: account.id, external_id: account.externalId, name: account.name, tier: account.tier },
    email_verified: account.emailVerified,
    ...moments({ terms_accepted_at: account.termsAcceptedAt, suspended_at: account.suspendedAt }),
    suspended_reason: account.suspendedReason,
    ...moments({ deleted_at: account.deletedAt, created_at: account.createdAt }),
    credits:
      balance === null
        ? null
        : { available: available(balance), monthly: balance.monthly, pack: balance.pack, spent: balance.spent },
  };
}

function jobMembers(job: ShownJob, outputs: readonly JobOutput[]): Members {
  const { request } = job;
  return {
    ...{ id: job.id, kind: job.kind, operation: job.operation, provider: job.providerId, model: job.modelId },
    ...{ status: job.status, credits_charged: job.creditsCharged, reference: job.reference, request: job.requestId },
    error: job.error === null ? null : { code: job.error.code, message: job.error.message },
    ...moments({ created_at: job.createdAt, ended_at: job.completedAt }),
    input: {
      ...{ prompt: request.prompt, lyrics: request.lyrics, duration: request.durationSeconds },
      ...{ instrumental: request.instrumental, client: request.client, metadata: request.metadata },
      ...{ options: request.options, source_track: request.sourceTrackId, source_use: request.sourceUse },
    },
    files: outputs.map((output) => fileOf({ ...output, role: "stem" })),
  };
}

function trackMembers(track: Track, lyrics: Lyrics | null): Members {
  return {
    ...{ id: track.id, job: track.jobId, title: track.title, artist_label: track.artistLabel, bpm: track.bpm },
    ...{ prompt: track.prompt, visibility: track.visibility, tags: track.tags, is_shared: track.shareToken !== null },
    lyrics: lyrics === null ? null : { text: lyrics.text, words: lyrics.words },
    ...moments({ created_at: track.createdAt }),
    files: track.assets.map(fileOf),
  };
}

function fileOf({ role, label, audioKey, contentType, sizeBytes, durationSeconds }: TrackAsset): Members {
  return {
    ...{ role, label, path: exportedPath(audioKey), content_type: contentType, size_bytes: sizeBytes },
    duration: seconds(durationSeconds),
  };
}

function moments(given: Readonly<Record<string, number | null>>): Members {
  return Object.fromEntries(
    Object.entries(given).map(([name, time]) => [name, time === null ? null : timestamp(time)]),
  );
}
