import { createHash } from "node:crypto";
import { asObject, fileEndingOf, isLink, ProviderFailure } from "../sdk/index.js";
import type { JsonObject, ProviderAsset, Snapshot, SplitRequest } from "../sdk/index.js";

type Split = SplitRequest["operation"];

/** The name of the remainder depends on the extracted stems. */
const LABELS: Readonly<Record<Split, Readonly<Record<string, string>>>> = {
  stem_split: { drum: "drums", no_multistem: "other" },
  vocal_removal: { no_vocals: "instrumental" },
};

/**
 * LALAL.AI allows 30 checks a minute for all work of an account: one call polls all work that is due at the same time.
 */
const POLL_EVERY_MS = 10_000;
const POLL_MIN_MS = 2_000;

/** The same UUIDv4 for the same job. */
export function idempotencyKeyOf(jobId: string): string {
  const bytes = createHash("sha256").update(`fermata:lalal:${jobId}`).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** A file name of characters that a header can carry; its extension says the format. */
export function filenameOf({ jobId, source: { contentType } }: SplitRequest): string {
  return `${jobId}.${fileEndingOf(contentType)}`;
}

/** The next moment at which all work is polled. */
export function nextPollMs(now: number): number {
  const wait = POLL_EVERY_MS - (now % POLL_EVERY_MS);
  return wait < POLL_MIN_MS ? wait + POLL_EVERY_MS : wait;
}

/** The snapshot for a state of `check`. */
export function snapshotOf(state: unknown, operation: Split, now: number): Snapshot | ProviderFailure {
  if (state === undefined) return new ProviderFailure("gone", "It knows no such task; a task is known for a day.");
  const { status, result, error, progress } = asObject(state);
  switch (status) {
    case "success":
      return completedOf(asObject(result), operation);
    case "error":
      return failureIn(asObject(error));
    case "cancelled":
      return new ProviderFailure("cancelled", "The task was cancelled there.");
    case "server_error":
      return new ProviderFailure("unavailable", "The state of the task could not be read there.");
    default:
      if (typeof status !== "string")
        return new ProviderFailure("unavailable", "The response has no state of the task.");
      // 0 while it is queued.
      return {
        state: "running",
        nextPollMs: nextPollMs(now),
        ...(typeof progress === "number" ? { progress: { percent: progress } } : {}),
      };
  }
}

function completedOf({ tracks, duration }: JsonObject, operation: Split): Snapshot | ProviderFailure {
  const durationSeconds = typeof duration === "number" && duration > 0 ? duration : null;
  const stems = (Array.isArray(tracks) ? tracks : [])
    .map(asObject)
    .flatMap(({ type, label: given, url }): ProviderAsset[] => {
      if (typeof given !== "string" || !isLink(url)) return [];
      const label = labelOf(given, type, operation);
      if (label === null) return [];
      return [{ role: "stem", label, contentType: null, durationSeconds, source: { kind: "url", url: secured(url) } }];
    });
  const labels = stems.map(({ label }) => label);
  if (stems.length === 0) return new ProviderFailure("failed", "The task succeeded, and there are no stems.");
  if (operation === "vocal_removal" && !(labels.includes("vocals") && labels.includes("instrumental")))
    return new ProviderFailure("failed", `The task succeeded, and there are only: ${labels.join(", ")}.`);
  return { state: "completed", tracks: [], stems };
}

/** Their documentation shows links by plain http, which is not fetched; the same files are there by https. */
function secured(url: string): string {
  return url.replace(/^http:(?=\/\/(?:[a-z0-9-]+\.)*lalal\.ai\/)/i, "https:");
}

/** null: a remainder that is no part of its own. */
function labelOf(given: string, type: unknown, operation: Split): string | null {
  const known = LABELS[operation][given];
  if (known !== undefined) return known;
  return type === "back" || !/^[a-z][a-z0-9_ -]*$/.test(given) ? null : given;
}

/** A failure of accepted work is final, even where its code would be retried for a request. */
function failureIn({ detail, code, id }: JsonObject): ProviderFailure {
  const message = typeof detail === "string" ? detail : (JSON.stringify(detail) ?? "");
  return new ProviderFailure("failed", `The task failed: ${message.slice(0, 300)}`, {
    providerCode: typeof code === "string" ? code : "error",
    ...(typeof id === "string" ? { requestId: id } : {}),
    ...(code === "exceeded_duration" ? { billable: "no" } : {}),
  });
}
