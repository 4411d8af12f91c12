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

/**
 * The hosts that one process delivers to: how many attempts each may have under way, of all accounts together, and
 * which of them fail. A failing host backs off as one, however many endpoints lead there. Kept in memory: after a
 * restart a host is failing again after a few attempts.
 */
export class Hosts {
  private readonly health = new Map<string, HostHealth>();

  constructor(private readonly policy: EndpointBreakerPolicy) {}

  /** What an attempt has shown. @param failure null: it was delivered */
  note(url: string, failure: WebhookFailure | null, now: number): void {
    const host = hostKeyOf(url);
    const after = afterAttempt(this.health.get(host) ?? null, failure, this.policy, now);
    this.health.delete(host);
    if (after === null) return;
    this.health.set(host, after);
    const [oldest] = this.health.keys();
    if (this.health.size > HOSTS_MAX && oldest !== undefined) this.health.delete(oldest);
  }

  /**
   * How many attempts each endpoint may begin now; those that are passed over are left out.
   *
   * @param endpoints the first ones are served first
   * @param underWay attempts of an endpoint that have begun and not ended
   * @param atHost the same, of a host
   */
  demandOf(
    endpoints: readonly WebhookEndpoint[],
    underWay: (id: WebhookEndpointId) => number,
    atHost: (host: string) => number,
    now: number,
  ): Demand<WebhookEndpointId>[] {
    const byHost = new Map<string, WebhookEndpoint[]>();
    for (const endpoint of endpoints) {
      const host = hostKeyOf(endpoint.url);
      const known = byHost.get(host);
      if (known === undefined) byHost.set(host, [endpoint]);
      else known.push(endpoint);
    }
    const allowed = new Map<WebhookEndpointId, number>();
    for (const [host, those] of byHost) {
      const busy = atHost(host);
      const demand = this.demandAt(this.health.get(host) ?? null, those, { underWay, busy, now });
      for (const { of, count } of fairShares(ATTEMPTS_PER_HOST_MAX - busy, demand)) allowed.set(of, count);
    }
    return endpoints.map(({ id }) => ({ of: id, count: allowed.get(id) ?? 0 })).filter(({ count }) => count > 0);
  }

  private demandAt(
    host: HostHealth | null,
    endpoints: readonly WebhookEndpoint[],
    {
      underWay,
      busy,
      now,
    }: { readonly underWay: (id: WebhookEndpointId) => number; readonly busy: number; readonly now: number },
  ): Demand<WebhookEndpointId>[] {
    const demand = (endpoint: WebhookEndpoint, max: number): Demand<WebhookEndpointId> => {
      const count =
        Math.min(max, triesAllowed(endpoint.health, ATTEMPTS_PER_ENDPOINT_MAX, now)) - underWay(endpoint.id);
      return { of: endpoint.id, count };
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
