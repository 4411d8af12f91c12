import type { WebhookEndpointId } from "../ids.js";
import type { WebhookStore } from "../ports/webhook-store.js";
import { type Receiver, receiverOf } from "./hosts.js";

/** Endpoints with a backlog whose state is read for each claim; of more, a look returns some. */
const BACKLOG_MAX = 100;

export interface DueEndpointsDeps {
  readonly webhooks: Pick<WebhookStore, "endpointsWithDue" | "findEndpoints">;
  /** How often to look for what other processes have added, in milliseconds. */
  readonly sweepMs: number;
  /** Drops what waits for an endpoint that is gone or disabled. */
  drop(id: WebhookEndpointId): Promise<void>;
}

/** The endpoints for which something is due, as one process knows them: a look costs more than a claim. */
export class DueEndpoints {
  /** Of which more is due than was claimed, by all looks since the last one from the beginning. */
  private readonly backlog = new Map<WebhookEndpointId, Receiver>();
  /** When that one was. */
  private lookedAt = Number.NEGATIVE_INFINITY;
  /** Where the next look goes on; null: at the beginning. */
  private place: WebhookEndpointId | null = null;
  /** Whether the looks since the last pause began at the beginning. */
  private isWhole = false;
  private isAsked = false;

  constructor(private readonly deps: DueEndpointsDeps) {}

  /** Something was added: the next look is made at once. */
  ask(): void {
    this.isAsked = true;
  }

  get hasBacklog(): boolean {
    return this.backlog.size > 0;
  }

  /** As they were when they were last read. */
  get known(): Receiver[] {
    return [...this.backlog.values()];
  }

  /**
   * Whether the last looks found all endpoints with something due, and what is left of them can be claimed without
   * another. What other processes add is found by the next sweep.
   */
  isKnown(now: number): boolean {
    const age = now - this.lookedAt;
    const isFew = this.backlog.size > 0 && this.backlog.size <= BACKLOG_MAX;
    return !this.isAsked && this.place === null && isFew && age >= 0 && age < this.deps.sweepMs;
  }

  nextLookInMs(now: number): number {
    return Math.max(0, this.lookedAt + this.deps.sweepMs - now);
  }

  /** All that was due of it is claimed. */
  remove(id: WebhookEndpointId): void {
    this.backlog.delete(id);
  }

  /** Those with a backlog, as they are now. */
  read(): Promise<ReadonlyMap<WebhookEndpointId, Receiver>> {
    return this.activeOf([...this.backlog.keys()]);
  }

  /** Looks for endpoints with something due, from where the last look ended. */
  async look(now: number): Promise<ReadonlyMap<WebhookEndpointId, Receiver>> {
    if (this.place === null) {
      this.isWhole = true;
      this.isAsked = false;
      this.lookedAt = now;
      this.backlog.clear();
    }
    const { ids, next } = await this.deps.webhooks.endpointsWithDue(now, this.place);
    this.place = next;
    return this.activeOf(ids);
  }

  /** Whether some have not been looked at since the last pause; else, and where no slot is free, it is a pause. */
  goesOn(hasFreeSlots: boolean): boolean {
    const isLeft = this.place !== null || !this.isWhole;
    const goesOn = isLeft && hasFreeSlots;
    if (!goesOn) this.isWhole = false;
    return goesOn;
  }

  private async activeOf(ids: readonly WebhookEndpointId[]): Promise<ReadonlyMap<WebhookEndpointId, Receiver>> {
    const active = new Map<WebhookEndpointId, Receiver>();
    if (ids.length === 0) return active;
    const endpoints = await this.deps.webhooks.findEndpoints(ids);
    for (const id of ids) {
      const endpoint = endpoints.get(id);
      if (endpoint?.status === "active") {
        active.set(id, receiverOf(endpoint));
        continue;
      }
      this.backlog.delete(id);
      await this.deps.drop(id);
    }
    for (const [id, receiver] of active) this.backlog.set(id, receiver);
    return active;
  }
}
