import { ProviderFailure } from "../sdk/index.js";

/** The number of jobs whose upload is cached; more than run at once. */
const JOBS_MAX = 1_000;

/** The uploads of jobs that are not done: an upload is billed, and the next attempt of a job can use it again. */
export class Uploads {
  private readonly songIds = new Map<string, string>();

  of(jobId: string): string | null {
    return this.songIds.get(jobId) ?? null;
  }

  add(jobId: string, songId: string): void {
    const [oldest] = this.songIds.keys();
    if (oldest !== undefined && this.songIds.size >= JOBS_MAX) this.songIds.delete(oldest);
    this.songIds.set(jobId, songId);
  }

  done(jobId: string): void {
    this.songIds.delete(jobId);
  }
}

/** A failure after an upload, which is billed even if no music is created. */
export function afterUpload(error: unknown): unknown {
  if (!ProviderFailure.is(error) || error.billable !== "no") return error;
  const { kind, message, retryAfterMs, providerCode, requestId, cause } = error;
  return new ProviderFailure(kind, message, {
    retryAfterMs: retryAfterMs ?? undefined,
    billable: "yes",
    providerCode: providerCode ?? undefined,
    requestId: requestId ?? undefined,
    cause,
  });
}
