import type { WebhookEndpointId } from "../ids.js";
import type { WebhookFailure } from "../ports/webhook-sender.js";
import type { WebhookEndpoint } from "../ports/webhook-records.js";
import { type EndpointBreakerPolicy, triesAllowed } from "./endpoint-health.js";
import { afterAttempt, ATTEMPTS_PER_HOST_MAX, holdsBack, type HostHealth, isFailing } from "./host-health.js";
import { fairShares, type Demand } from "./fair-shares.js";
import { hostKeyOf } from "./url-rules.js";

/** Delivery attempts under way at once to one endpoint: endpoints that hang must not take all. */
const ATTEMPTS_PER_ENDPOINT_MAX = 5;

/** Failing hosts that are remembered; the one that failed the longest ago is forgotten first. */
const HOSTS_MAX = 10_000;

/** An endpoint, and the key of its host. @see hostKeyOf */
export interface Receiver {
  readonly endpoint: WebhookEndpoint;
  readonly host: string;
}

export function receiverOf(endpoint: WebhookEndpoint): Receiver {
  return { endpoint, host: hostKeyOf(endpoint.url) };
}

/** Attempts that have begun and not ended. */
export interface UnderWay {
  readonly ofEndpoint: ReadonlyMap<WebhookEndpointId, number>;
  readonly ofHost: ReadonlyMap<string, number>;
}

/**
 * The hosts that one process delivers to: how many attempts each may have under way, of all accounts together, and
 * which of them fail. A failing host backs off as one, however many endpoints lead there. Kept in memory: after a
 * restart a host is failing again after a few attempts.
 */
export class Hosts {
  private readonly health = new Map<string, HostHealth>();

  constructor(private readonly policy: EndpointBreakerPolicy) {}

  /**
   * What an attempt has shown.
   *
   * @param failure null: it was delivered
   * @returns whether the host fails
   */
  note(host: string, failure: WebhookFailure | null, now: number): boolean {
    const before = this.health.get(host) ?? null;
    if (before === null && failure === null) return false;
    const after = afterAttempt(before, failure, this.policy, now);
    this.health.delete(host);
    if (after === null) return false;
    this.health.set(host, after);
    const [oldest] = this.health.keys();
    if (this.health.size > HOSTS_MAX && oldest !== undefined) this.health.delete(oldest);
    return isFailing(after);
  }

  /**
   * How many attempts each endpoint may begin now; those that are passed over are left out.
   *
   * @param receivers the first ones are served first
   * @param most how many there are to begin, of an endpoint
   */
  demandOf(
    receivers: readonly Receiver[],
    { ofEndpoint, ofHost }: UnderWay,
    now: number,
    most: (id: WebhookEndpointId) => number = () => Number.POSITIVE_INFINITY,
  ): Demand<WebhookEndpointId>[] {
    const byHost = new Map<string, WebhookEndpoint[]>();
    for (const { endpoint, host } of receivers) {
      const known = byHost.get(host);
      if (known === undefined) byHost.set(host, [endpoint]);
      else known.push(endpoint);
    }
    const allowed = new Map<WebhookEndpointId, number>();
    for (const [host, those] of byHost) {
      const busy = ofHost.get(host) ?? 0;
      const underWay = (id: WebhookEndpointId): number => ofEndpoint.get(id) ?? 0;
      const demand = this.demandAt(this.health.get(host) ?? null, those, { underWay, busy, now, most });
      for (const { of, count } of fairShares(ATTEMPTS_PER_HOST_MAX - busy, demand)) allowed.set(of, count);
    }
    const demand: Demand<WebhookEndpointId>[] = [];
    for (const { endpoint } of receivers) {
      const count = allowed.get(endpoint.id) ?? 0;
      if (count > 0) demand.push({ of: endpoint.id, count });
    }
    return demand;
  }

  private demandAt(
    host: HostHealth | null,
    endpoints: readonly WebhookEndpoint[],
    {
      underWay,
      busy,
      now,
      most,
    }: {
      readonly underWay: (id: WebhookEndpointId) => number;
      readonly busy: number;
      readonly now: number;
      readonly most: (id: WebhookEndpointId) => number;
    },
  ): Demand<WebhookEndpointId>[] {
    const demand = (endpoint: WebhookEndpoint, max: number): Demand<WebhookEndpointId> => {
      const free = Math.min(max, triesAllowed(endpoint.health, ATTEMPTS_PER_ENDPOINT_MAX, now)) - underWay(endpoint.id);
      return { of: endpoint.id, count: Math.min(free, most(endpoint.id)) };
    };
    if (!isFailing(host)) return endpoints.map((endpoint) => demand(endpoint, ATTEMPTS_PER_ENDPOINT_MAX));
    const [held, free] = [
      endpoints.filter((one) => holdsBack(host, one)),
      endpoints.filter((one) => !holdsBack(host, one)),
    ];
    const capacity = now < host.openUntil ? 0 : 1 - busy;
    const tested = fairShares(
      capacity,
      held.map((endpoint) => demand(endpoint, 1)),
    );
    return [...tested, ...free.map((endpoint) => demand(endpoint, 1))];
  }
}
