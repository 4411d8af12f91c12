import { signal } from "@preact/signals";
import type { Schemas } from "../api.js";

interface Sample {
  readonly at: number;
  readonly seconds: number;
}

const SAMPLES_MAX = 360;

/** How long the job that waits the longest has waited, as this page has seen it since it was opened. */
export const queueAges = signal<readonly Sample[]>([]);

export function noteQueueAge({ at, queue_age_seconds: seconds }: Schemas["AdminOverview"]): void {
  const sample = { at: Date.parse(at) / 1_000, seconds: Math.round(seconds) };
  const { value } = queueAges;
  if (value.at(-1)?.at === sample.at) return;
  queueAges.value = [...value, sample].slice(-SAMPLES_MAX);
}
