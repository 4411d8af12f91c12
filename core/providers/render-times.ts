import type { Clock } from "../ports/clock.js";
import type { JobStore } from "../ports/job-store.js";
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

/** How long a model usually renders, as this process sees it: at most a minute behind. */
export class RenderTimes {
  private readonly cache = new Map<string, { readonly readAt: number; readonly ms: Promise<number | null> }>();

  constructor(private readonly deps: RenderTimesDeps) {}

  /** The median of the last renders in milliseconds, or else what the plugin says; null when neither is known. */
  async usualMs(providerId: string, modelId: string): Promise<number | null> {
    const key = `${providerId} ${modelId}`;
    const now = this.deps.clock.now();
    const cached = this.cache.get(key);
    if (cached !== undefined && now - cached.readAt < CACHE_MS) return cached.ms;
    const ms = this.read(providerId, modelId);
    this.cache.set(key, { readAt: now, ms });
    ms.catch(() => this.cache.delete(key));
    return ms;
  }

  private async read(providerId: string, modelId: string): Promise<number | null> {
    const { jobs, catalogue } = this.deps;
    const times = await jobs.renderTimes(providerId, modelId, SAMPLES);
    if (times.length >= SAMPLES_MIN) return median(times);
    const { usualRenderSeconds } = catalogue.find(modelId) ?? {};
    return usualRenderSeconds === undefined ? null : usualRenderSeconds * 1000;
  }
}

function median(values: readonly number[]): number {
  const ascending = [...values].sort((a, b) => a - b);
  const middle = Math.floor(ascending.length / 2);
  const upper = ascending[middle] ?? 0;
  return ascending.length % 2 === 1 ? upper : ((ascending[middle - 1] ?? upper) + upper) / 2;
}
