import { NO_TAGS, ProviderFailure } from "../sdk/index.js";
import type { JsonObject, MusicRequest, ProviderTrack, Snapshot } from "../sdk/index.js";
import type { Task } from "./client.js";

/** Our request as their request body. */
export function toBody({ model, prompt, lyrics, durationSeconds, instrumental, attemptId }: MusicRequest): JsonObject {
  const seconds = durationSeconds ?? model.duration?.defaultSeconds;
  return {
    model: model.upstream ?? model.id.slice(model.id.indexOf("/") + 1),
    prompt,
    ...(lyrics === null ? {} : { lyrics }),
    ...(seconds === undefined ? {} : { seconds }),
    instrumental,
    reference: attemptId,
  };
}

/** Their task as a snapshot. */
export function toSnapshot(task: Task, nextPollMs: number): Snapshot {
  switch (task.status) {
    case "queued":
    case "running":
      return { state: "running", nextPollMs };
    case "succeeded":
      if ((task.files ?? []).length === 0)
        throw new ProviderFailure("failed", `Task ${task.id} succeeded without files.`);
      return { state: "completed", tracks: toTracks(task) };
    case "failed": {
      // A failure without their error code, or their status word in its place, is polled again for a while.
      const { code = task.status, message = "no reason given" } = task.error ?? {};
      throw new ProviderFailure("failed", `Task ${task.id} failed: ${message}`, { providerCode: code });
    }
    case "cancelled":
      throw new ProviderFailure("cancelled", `Task ${task.id} was cancelled there.`);
    default:
      // An unknown status, perhaps a new one, does not mean that the work failed: it is polled again.
      throw new ProviderFailure("unavailable", `Task ${task.id} has the unknown status ${task.status}.`);
  }
}

/**
 * Their files as tracks: one for each, with one asset of role "mix", label "full", and a source that the host fetches,
 * { kind: "url", url }. Set contentType to null and the host detects it from the bytes. NO_TAGS is for tracks without
 * tags.
 */
export function toTracks(task: Task): readonly ProviderTrack[] {
  return (task.files ?? []).map(({ url, title, seconds }) => ({
    title: title ?? null,
    bpm: null,
    tags: NO_TAGS,
    assets: [
      { role: "mix", label: "full", contentType: null, durationSeconds: seconds ?? null, source: { kind: "url", url } },
    ],
  }));
}
