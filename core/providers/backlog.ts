import type { Clock } from "../ports/clock.js";
import type { JobStore, ProviderWork } from "../ports/job-store.js";
import type { Catalogue } from "./catalogue.js";
import type { RenderTimes } from "./render-times.js";
import type { Route } from "./routes.js";

export interface BacklogDeps {
  readonly jobs: Pick<JobStore, "countWork">;
  readonly catalogue: Pick<Catalogue, "providers">;
  readonly renderTimes: Pick<RenderTimes, "usualMs">;
  readonly clock: Clock;
  /** A job that cannot begin by then is not accepted. */
  readonly queueDeadlineMs: number;
}

const CACHE_MS = 1_000;
const COUNT_MAX = 10_000;

/** Which route can begin a job in time, as far as this process sees it: at most a second behind. */
export class Backlog {
  private readonly cache = new Map<string, { readonly readAt: number; readonly work: Promise<ProviderWork> }>();

  constructor(private readonly deps: BacklogDeps) {}

  /**
   * The first of these routes whose provider can begin another job before the queue's deadline; or, when none can, how
   * long it takes until one can, in milliseconds.
   *
   * @param routes at least one
   */
  async firstInTime(routes: readonly Route[]): Promise<{ readonly route: Route } | { readonly waitMs: number }> {
    const { queueDeadlineMs } = this.deps;
    let waitMs = Infinity;
    for (const route of routes) {
      const beginsInMs = (await this.beginsInMs(route)) ?? 0;
      if (beginsInMs <= queueDeadlineMs) return { route };
      waitMs = Math.min(waitMs, beginsInMs - queueDeadlineMs);
    }
    return { waitMs };
  }

  /**
   * In how many milliseconds a job begins, by the slots of the provider and its usual render; 0 when it can begin now,
   * null when that is not known.
   *
   * @param waitingBefore how many waiting jobs begin before it; by default all that wait
   */
  async beginsInMs({ providerId, servedModelId }: Route, waitingBefore?: number): Promise<number | null> {
    const { catalogue, renderTimes } = this.deps;
    const work = await this.workOf(providerId);
    const provider = catalogue.providers.find(({ id }) => id === providerId);
    const slots = provider?.maxInFlight ?? slotsSeen(work);
    const waiting = waitingBefore ?? work.waiting;
    if (slots === null) return waiting === 0 ? 0 : null;
    const ahead = waiting + work.submitting + work.rendering;
    if (ahead < slots) return 0;
    if (servedModelId === null) return null;
    const usualMs = await renderTimes.usualMs(providerId, servedModelId);
    return usualMs === null ? null : ((ahead - slots + 1) / slots) * usualMs;
  }

  private workOf(providerId: string): Promise<ProviderWork> {
    const now = this.deps.clock.now();
    const cached = this.cache.get(providerId);
    if (cached !== undefined && now - cached.readAt < CACHE_MS) return cached.work;
    const work = this.deps.jobs.countWork(providerId, COUNT_MAX);
    this.cache.set(providerId, { readAt: now, work });
    work.catch(() => this.cache.delete(providerId));
    return work;
  }
}

/**
 * Where jobs wait and all that is under way are calls that have not returned, the provider renders within the call, and
 * takes as many at once as are under way; null where that is unknown: accepted work holds no slot.
 */
function slotsSeen({ waiting, submitting, rendering }: ProviderWork): number | null {
  return waiting > 0 && submitting > 0 && rendering === 0 ? submitting : null;
}
