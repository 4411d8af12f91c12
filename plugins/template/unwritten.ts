import { ProviderFailure, type ProviderTrack } from "../sdk/index.js";
import type { Task } from "./client.js";

/** What `fermata plugins new` writes in place of the function of this name in map.ts: the author's first task. */
export function toTracks(task: Task): readonly ProviderTrack[] {
  const words = `toTracks in src/map.ts is not written yet (task ${task.id}).`;
  throw new ProviderFailure("failed", words, { providerCode: "not_written" });
}
