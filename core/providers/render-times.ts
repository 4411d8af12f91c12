import type { Clock } from "../ports/clock.js";
import type { JobStore, RenderTime } from "../ports/job-store.js";
import type { Catalogue } from "./catalogue.js";

export interface RenderTimesDeps {
  readonly jobs: Pick<JobStore, "renderTimes">;
  readonly catalogue: Pick<Catalogue, "find">;
  readonly clock: Clock;
}

/** The renders that count. */
const SAMPLES = 100;
/** Fewer say less than the plugin's word. */
const SAMPLES_MIN = 3;
const CACHE_MS = 60_000;
/** Lengths that far apart, as a factor, are compared with each other. */
const ALIKE = 1.5;

/** How long a model usually renders, as this process sees it: at most a minute behind. */
export class RenderTimes {
  private readonly cache = new Map<string, { readonly readAt: number; readonly times: Promise<RenderTime[]> }>();

  constructor(private readonly deps: RenderTimesDeps) {}

  /**
   * The median of the last renders in milliseconds, or else what the plugin says; null when neither is known.
   *
   * @param lengthSeconds what is asked for: renders of about that length count alone, where there are enough of them.
   *   null: all count
   */
  async usualMs(providerId: string, modelId: string, lengthSeconds: number | null = null): Promise<number | null> {
    const times = await this.times(providerId, modelId);
    const alike = lengthSeconds === null ? [] : times.filter((time) => isAlike(time.lengthSeconds, lengthSeconds));
    const counted = alike.length >= SAMPLES_MIN ? alike : times;
    if (counted.length >= SAMPLES_MIN) return medianMs(counted);
    const { usualRenderSeconds } = this.deps.catalogue.find(modelId) ?? {};
    return usualRenderSeconds === undefined ? null : usualRenderSeconds * 1000;
  }

  private times(providerId: string, modelId: string): Promise<RenderTime[]> {
    const key = `${providerId} ${modelId}`;
    const now = this.deps.clock.now();
    const cached = this.cache.get(key);
    if (cached !== undefined && now - cached.readAt < CACHE_MS) return cached.times;
    // In their order once, not for each of the jobs that ask.
    const read = this.deps.jobs.renderTimes(providerId, modelId, SAMPLES);
    const times = read.then((found) => found.toSorted((a, b) => a.ms - b.ms));
    this.cache.set(key, { readAt: now, times });
    times.catch(() => this.cache.delete(key));
    return times;
  }
}

function isAlike(one: number | null, other: number): boolean {
  return one !== null && one <= other * ALIKE && other <= one * ALIKE;
}

/** Of times in ascending order. */
function medianMs(times: readonly RenderTime[]): number {
  const middle = Math.floor(times.length / 2);
  const upper = times[middle]?.ms ?? 0;
  return times.length % 2 === 1 ? upper : ((times[middle - 1]?.ms ?? upper) + upper) / 2;
}
