import { BackgroundLoop } from "../background-loop.js";
import type { ProcessId, WebhookDeliveryId, WebhookEndpointId } from "../ids.js";
import type { Clock } from "../ports/clock.js";
import type { Logger } from "../ports/logger.js";
import type { UnitOfWork } from "../ports/unit-of-work.js";
import type { WebhookResult } from "../ports/webhook-sender.js";
import type { ClaimedDelivery, DeliveryClaim, WebhookStore } from "../ports/webhook-store.js";
import type { WebhookEndpoint } from "../ports/webhook-records.js";
import type { EndpointBreakerPolicy } from "./endpoint-health.js";
import { Hosts } from "./hosts.js";
import type { RecordDeliveryAttempt } from "./record-delivery-attempt.js";
import type { SendDelivery } from "./send-delivery.js";
import { traceIdOf } from "../tracing/trace-context.js";
import { fairShares } from "./fair-shares.js";
import { hostKeyOf } from "./url-rules.js";

/** Tries under way at once in one process. */
const TRIES_MAX = 100;
/** Endpoints with a backlog whose state is read for each claim; of more, a look returns some. */
const BACKLOG_MAX = 100;
/** A lease lasts for as many times the longest attempt: a sender that is silent for so long is lost. */
const LEASE_ATTEMPTS = 4;

export interface DeliverWebhooksDeps {
  /** Holds the leases of the deliveries that it sends. */
  readonly owner: ProcessId;
  readonly webhooks: WebhookStore;
  readonly unitOfWork: UnitOfWork;
  readonly sendDelivery: SendDelivery;
  readonly recordAttempt: RecordDeliveryAttempt;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The longest that an attempt may take, in milliseconds. */
  readonly timeoutMs: number;
  /** How often to look for due deliveries of which no notification came. */
  readonly sweepMs: number;
  /** How long a failing host gets no request, for all its endpoints together. */
  readonly breaker: EndpointBreakerPolicy;
}

/**
 * The webhook sender of one process: claims due deliveries, makes a delivery attempt of each, and records its result.
 * At least once.
 */
export class DeliverWebhooks {
  private readonly underWay = new Map<WebhookDeliveryId, Promise<void>>();
  private readonly triesOf = new Map<WebhookEndpointId, number>();
  private readonly triesAt = new Map<string, number>();
  private readonly hosts: Hosts;
  private readonly aborting = new AbortController();
  private readonly loop: BackgroundLoop;
  /** Where the last step began to share out, so that the next begins elsewhere. */
  private turn = 0;
  /** Where the next look for due deliveries goes on; null: at the beginning. */
  private place: WebhookEndpointId | null = null;
  /** Whether the looks since the last pause began at the beginning. */
  private isWhole = false;
  /** Endpoints of which more is due than was claimed, by all looks since the last one from the beginning. */
  private readonly backlog = new Set<WebhookEndpointId>();
  /** When that one was. */
  private lookedAt = Number.NEGATIVE_INFINITY;
  private isAsked = false;

  constructor(private readonly deps: DeliverWebhooksDeps) {
    const { clock, logger, sweepMs: errorPauseMs } = deps;
    this.hosts = new Hosts(deps.breaker);
    const errorMessage = "Due webhook deliveries could not be claimed";
    this.loop = new BackgroundLoop({ step: () => this.claimDue(), errorPauseMs, clock, logger, errorMessage });
  }

  /** How many attempts are under way. */
  get tries(): number {
    return this.underWay.size;
  }

  start(): void {
    this.loop.start();
  }

  /** There may be something to deliver. */
  wake(): void {
    this.isAsked = true;
    this.loop.wake();
  }

  /**
   * Claims nothing more, lets delivery attempts finish for `graceMs`, or until `now` aborts, aborts the rest and
   * releases it: it is sent again, under the same id.
   */
  async stop(graceMs: number, now?: AbortSignal): Promise<void> {
    await this.loop.stop();
    const idle = Promise.all(this.underWay.values());
    const grace = new AbortController();
    const waits = now === undefined ? grace.signal : AbortSignal.any([grace.signal, now]);
    await Promise.race([idle, this.deps.clock.sleep(graceMs, waits)]);
    grace.abort();
    this.aborting.abort();
    await idle;
  }

  /** Claims due deliveries and begins their attempts. @returns the time until the next sweep, in milliseconds */
  private async claimDue(): Promise<number> {
    const { owner, webhooks, clock, sweepMs, timeoutMs } = this.deps;
    const now = clock.now();
    if (this.underWay.size >= TRIES_MAX) return sweepMs;
    const isKnown = this.knowsBacklog(now);
    const endpoints = isKnown ? await this.activeOf([...this.backlog]) : await this.endpointsWithDue(now);
    const claims = this.fairShares([...endpoints.values()], now);
    if (claims.length > 0) {
      const claimed = await webhooks.claimDeliveries(claims, now, owner, now + timeoutMs * LEASE_ATTEMPTS);
      for (const { endpointId, limit } of claims)
        if (claimed.filter(({ delivery }) => delivery.endpointId === endpointId).length < limit)
          this.backlog.delete(endpointId);
      for (const one of claimed) this.begin(one, endpoints.get(one.delivery.endpointId) as WebhookEndpoint);
    }
    if (!isKnown && this.goesOn()) return 0;
    // Attempts wake this loop when they end; whatever else is due is found by the next look.
    if (isKnown && this.backlog.size > 0 && this.underWay.size > 0) return Math.max(0, this.lookedAt + sweepMs - now);
    const dueAt = await webhooks.nextDeliveryAt();
    const waitMs = dueAt === null ? sweepMs : dueAt - clock.now();
    // A delivery that is due but was not taken waits for another attempt to end or for its endpoint's breaker.
    return waitMs > 0 ? Math.min(waitMs, sweepMs) : sweepMs;
  }

  /**
   * Whether the last looks found all endpoints with something due, and what is left of them can be claimed without
   * another: a look costs more than a claim. What other processes add is found by the next sweep.
   */
  private knowsBacklog(now: number): boolean {
    const age = now - this.lookedAt;
    const isFew = this.backlog.size > 0 && this.backlog.size <= BACKLOG_MAX;
    return !this.isAsked && this.place === null && isFew && age >= 0 && age < this.deps.sweepMs;
  }

  /** Whether slots are free, and some endpoints have not been looked at since the last pause. */
  private goesOn(): boolean {
    const isLeft = this.place !== null || !this.isWhole;
    const goesOn = isLeft && this.underWay.size < TRIES_MAX;
    if (!goesOn) this.isWhole = false;
    return goesOn;
  }

  private async endpointsWithDue(now: number): Promise<Map<WebhookEndpointId, WebhookEndpoint>> {
    if (this.place === null) {
      this.isWhole = true;
      this.isAsked = false;
      this.lookedAt = now;
      this.backlog.clear();
    }
    const { ids, next } = await this.deps.webhooks.endpointsWithDue(now, this.place);
    this.place = next;
    for (const id of ids) this.backlog.add(id);
    return this.activeOf(ids);
  }

  private async activeOf(ids: readonly WebhookEndpointId[]): Promise<Map<WebhookEndpointId, WebhookEndpoint>> {
    if (ids.length === 0) return new Map();
    const endpoints = await this.deps.webhooks.findEndpoints(ids);
    for (const id of ids) {
      if (endpoints.get(id)?.status === "active") continue;
      endpoints.delete(id);
      this.backlog.delete(id);
      await this.deps.recordAttempt.drop(id);
    }
    return endpoints;
  }

  private fairShares(endpoints: readonly WebhookEndpoint[], now: number): DeliveryClaim[] {
    const start = endpoints.length === 0 ? 0 : this.turn++ % endpoints.length;
    const demand = this.hosts.demandOf(
      [...endpoints.slice(start), ...endpoints.slice(0, start)],
      (id) => this.triesOf.get(id) ?? 0,
      (host) => this.triesAt.get(host) ?? 0,
      now,
    );
    const shares = fairShares(TRIES_MAX - this.underWay.size, demand);
    return shares.map(({ of, count }) => ({ endpointId: of, limit: count }));
  }

  private begin(claimed: ClaimedDelivery, endpoint: WebhookEndpoint): void {
    const { id } = claimed.delivery;
    const host = hostKeyOf(endpoint.url);
    add(this.triesOf, endpoint.id, 1);
    add(this.triesAt, host, 1);
    let isAtHost = true;
    const leaveHost = (): void => {
      if (!isAtHost) return;
      isAtHost = false;
      add(this.triesOf, endpoint.id, -1);
      add(this.triesAt, host, -1);
      this.loop.wake();
    };
    const work = this.attempt(claimed, endpoint, leaveHost).finally(() => {
      leaveHost();
      if (this.underWay.get(id) === work) this.underWay.delete(id);
      this.loop.wake();
    });
    this.underWay.set(id, work);
  }

  /**
   * Never rejects: what cannot be written is left to the lease, and sent again.
   *
   * @param onDelivered the receiver has it: others may be sent while its result is written. After a failure they wait
   *   until that is written, which may put off the next one.
   */
  private async attempt(
    { delivery, event }: ClaimedDelivery,
    endpoint: WebhookEndpoint,
    onDelivered: () => void,
  ): Promise<void> {
    const { sendDelivery, recordAttempt: recordTry, clock, logger } = this.deps;
    const startedAt = clock.now();
    const traced = event.trace === null ? {} : { trace_id: traceIdOf(event.trace) };
    const fields = { delivery: delivery.id, event: event.id, endpoint: endpoint.id, job_id: event.jobId, ...traced };
    try {
      const result = await sendDelivery.send(event, endpoint, this.aborting.signal);
      // An attempt that our own stop aborted says nothing about the receiver.
      if (this.aborting.signal.aborted && result.status === null) return await this.release({ delivery, event });
      this.hosts.note(endpoint.url, result.failure, clock.now());
      if (result.failure === null) onDelivered();
      await recordTry.record({ delivery, event, endpoint, startedAt, result });
      logger.debug("A webhook delivery was tried", { ...fields, failure: result.failure, status: result.status });
      if (result.failure !== null) this.warn(fields, result);
    } catch (error) {
      logger.error("A webhook delivery failed unexpectedly; it will be retried", { error, ...fields });
    }
  }

  private warn(fields: object, { failure, status, message }: WebhookResult): void {
    this.deps.logger.info("A webhook delivery failed", { ...fields, failure, status, message });
  }

  private async release({ delivery }: ClaimedDelivery): Promise<void> {
    const { webhooks, unitOfWork, clock } = this.deps;
    const changes = { leaseOwner: null, dueAt: clock.now() };
    await unitOfWork.inTransaction((tx) =>
      webhooks.updateDeliveries(tx, [{ id: delivery.id, fence: delivery.fence, changes }]),
    );
  }
}

/** Counts up or down; removes a count of zero. */
function add<Key>(counts: Map<Key, number>, key: Key, change: 1 | -1): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
