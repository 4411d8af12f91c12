import type { WebhookEndpointId } from "../ids.js";
import type { WebhookEndpoint } from "../ports/webhook-records.js";
import type { ClaimedDelivery, DeliveryClaim } from "../ports/webhook-store.js";
import { fairShares } from "./fair-shares.js";
import type { Receiver } from "./hosts.js";

/** Most deliveries that wait for a slot, of one endpoint and of all. */
const WAITING_MAX = { ofEndpoint: 100, ofAll: 500 } as const;
/** As many as were delivered in one or two of these periods may be claimed ahead. */
const PERIOD_MS = 250;
/** No delivery waits for longer: its endpoint may have changed, and others may have time for it. */
const WAIT_MAX_MS = 1_000;

interface Waiting {
  /** As it was when the last of them were claimed. */
  receiver: Receiver;
  readonly claimed: { readonly one: ClaimedDelivery; readonly since: number }[];
}

/** Deliveries to one endpoint, in the period that began at `since` and in the one before. */
interface Pace {
  since: number;
  count: number;
  before: number;
}

/**
 * Deliveries that are claimed and wait for a slot, so that a receiver that keeps up never waits for a claim. As many as
 * it takes within a moment: a receiver that is slow, hangs or fails has none. What waits is not sent once a second has
 * passed since its claim.
 */
export class ClaimedAhead {
  private readonly waiting = new Map<WebhookEndpointId, Waiting>();
  private readonly paces = new Map<WebhookEndpointId, Pace>();
  private total = 0;
  private forgottenAt = 0;

  add(receiver: Receiver, one: ClaimedDelivery, now: number): void {
    const { id } = receiver.endpoint;
    const waiting = this.waiting.get(id) ?? { receiver, claimed: [] };
    waiting.receiver = receiver;
    waiting.claimed.push({ one, since: now });
    this.waiting.set(id, waiting);
    this.total += 1;
  }

  /** Where something waits for a slot. @param host all hosts by default */
  receivers(host: string | null = null): Receiver[] {
    const found: Receiver[] = [];
    for (const { receiver } of this.waiting.values()) if (host === null || receiver.host === host) found.push(receiver);
    return found;
  }

  countOf(id: WebhookEndpointId): number {
    return this.waiting.get(id)?.claimed.length ?? 0;
  }

  /** The one that has waited the longest, unless that was too long. */
  take(id: WebhookEndpointId, now: number): ClaimedDelivery | null {
    const waiting = this.waiting.get(id);
    const first = waiting?.claimed[0];
    if (waiting === undefined || first === undefined || isLate(first.since, now)) return null;
    waiting.claimed.shift();
    this.total -= 1;
    if (waiting.claimed.length === 0) this.waiting.delete(id);
    return first.one;
  }

  /** A delivery arrived at the endpoint. */
  delivered(id: WebhookEndpointId, now: number): void {
    const pace = this.paceOf(id, now) ?? { since: now, count: 0, before: 0 };
    pace.count += 1;
    this.paces.set(id, pace);
  }

  /** Takes all that wait for the endpoint; nothing is claimed ahead until deliveries arrive there again. */
  takeAllOf(id: WebhookEndpointId): ClaimedDelivery[] {
    this.paces.delete(id);
    const taken = this.waiting.get(id)?.claimed ?? [];
    this.waiting.delete(id);
    this.total -= taken.length;
    return taken.map(({ one }) => one);
  }

  /** The same for each endpoint at a host; of all hosts by default. */
  takeAllAt(host: string | null = null): ClaimedDelivery[] {
    return this.receivers(host).flatMap(({ endpoint }) => this.takeAllOf(endpoint.id));
  }

  /** Takes all of the endpoints where one has waited for too long. */
  takeLate(now: number): ClaimedDelivery[] {
    this.forgetIdle(now);
    const late: WebhookEndpointId[] = [];
    for (const [id, { claimed }] of this.waiting) if (isLate(claimed[0]?.since ?? now, now)) late.push(id);
    return late.flatMap((id) => this.takeAllOf(id));
  }

  /** In how many milliseconds one will have waited for too long; null when none waits. */
  lateInMs(now: number): number | null {
    let first = Number.POSITIVE_INFINITY;
    for (const { claimed } of this.waiting.values()) first = Math.min(first, claimed[0]?.since ?? first);
    return first === Number.POSITIVE_INFINITY ? null : Math.max(0, first + WAIT_MAX_MS + 1 - now);
  }

  /** What to claim for these; nothing while each has half of what it may have. */
  claims(receivers: readonly Receiver[], now: number): DeliveryClaim[] {
    const demand = receivers.map(({ endpoint }) => {
      const most = this.mostOf(endpoint, now);
      return { of: endpoint.id, most, count: most - this.countOf(endpoint.id) };
    });
    if (!demand.some(({ most, count }) => count * 2 > most)) return [];
    const shares = fairShares(WAITING_MAX.ofAll - this.total, demand);
    return shares.map(({ of, count }) => ({ endpointId: of, limit: count }));
  }

  private mostOf({ id, health }: WebhookEndpoint, now: number): number {
    const pace = health.streak === null && health.breaker === null ? this.paceOf(id, now) : null;
    return pace === null ? 0 : Math.min(pace.count + pace.before, WAITING_MAX.ofEndpoint);
  }

  private forgetIdle(now: number): void {
    if (now >= this.forgottenAt && now - this.forgottenAt < WAIT_MAX_MS) return;
    this.forgottenAt = now;
    for (const id of [...this.paces.keys()]) this.paceOf(id, now);
  }

  /** Moved on to the period of now; null when nothing was delivered in two periods. */
  private paceOf(id: WebhookEndpointId, now: number): Pace | null {
    const pace = this.paces.get(id);
    if (pace === undefined) return null;
    const passed = Math.floor((now - pace.since) / PERIOD_MS);
    if (passed <= 0) return pace;
    const before = passed === 1 ? pace.count : 0;
    this.paces.set(id, { since: pace.since + passed * PERIOD_MS, count: 0, before });
    if (before === 0) this.paces.delete(id);
    return this.paces.get(id) ?? null;
  }
}

/** Also when the clock was set back: how long it waited is not known then. */
function isLate(since: number, now: number): boolean {
  return now < since || now - since > WAIT_MAX_MS;
}
