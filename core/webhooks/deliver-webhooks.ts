import { BackgroundLoop } from "../background-loop.js";
import type { ProcessId, WebhookEndpointId } from "../ids.js";
import type { Clock } from "../ports/clock.js";
import type { Logger } from "../ports/logger.js";
import type { UnitOfWork } from "../ports/unit-of-work.js";
import type { WebhookResult } from "../ports/webhook-sender.js";
import type { ClaimedDelivery, DeliveryClaim, WebhookStore } from "../ports/webhook-store.js";
import { add, AttemptsUnderWay } from "./attempts-under-way.js";
import { ClaimedAhead } from "./claimed-ahead.js";
import { DueEndpoints } from "./due-endpoints.js";
import type { EndpointBreakerPolicy } from "./endpoint-health.js";
import { Hosts, type Receiver } from "./hosts.js";
import type { RecordDeliveryAttempt } from "./record-delivery-attempt.js";
import type { SendDelivery } from "./send-delivery.js";
import { traceIdOf } from "../tracing/trace-context.js";
import { type Demand, fairShares } from "./fair-shares.js";

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
  private readonly underWay = new AttemptsUnderWay();
  private readonly ahead = new ClaimedAhead();
  private readonly hosts: Hosts;
  private readonly due: DueEndpoints;
  private readonly aborting = new AbortController();
  private readonly loop: BackgroundLoop;
  /** Where slots were last shared out from, so that the next time begins elsewhere. */
  private turn = 0;
  private isStopping = false;

  constructor(private readonly deps: DeliverWebhooksDeps) {
    const { clock, logger, sweepMs: errorPauseMs } = deps;
    this.hosts = new Hosts(deps.breaker);
    const drop = (id: WebhookEndpointId): Promise<void> => deps.recordAttempt.drop(id);
    this.due = new DueEndpoints({ webhooks: deps.webhooks, sweepMs: deps.sweepMs, drop });
    const errorMessage = "Due webhook deliveries could not be claimed";
    this.loop = new BackgroundLoop({ step: () => this.claimDue(), errorPauseMs, clock, logger, errorMessage });
  }

  /** How many attempts are sent, or their results written. */
  get tries(): number {
    return this.underWay.size;
  }

  start(): void {
    this.loop.start();
  }

  /** There may be something to deliver. */
  wake(): void {
    this.due.ask();
    this.loop.wake();
  }

  /**
   * Claims and begins nothing more, releases what waits, lets delivery attempts finish for `graceMs`, or until `now`
   * aborts, aborts the rest and releases it: it is sent again, under the same id.
   */
  async stop(graceMs: number, now?: AbortSignal): Promise<void> {
    this.isStopping = true;
    await this.loop.stop();
    const released = this.release(this.ahead.takeAllAt());
    const idle = Promise.all([released, this.underWay.ended()]);
    const grace = new AbortController();
    const waits = now === undefined ? grace.signal : AbortSignal.any([grace.signal, now]);
    await Promise.race([idle, this.deps.clock.sleep(graceMs, waits)]);
    grace.abort();
    this.aborting.abort();
    await idle;
  }

  /** Claims due deliveries and begins their attempts. @returns the time until the next sweep, in milliseconds */
  private async claimDue(): Promise<number> {
    const { clock, sweepMs } = this.deps;
    const now = clock.now();
    await this.release(this.ahead.takeLate(now));
    this.underWay.leaveLate(now);
    this.beginWaiting();
    const isKnown = this.due.isKnown(now);
    if (!isKnown && this.underWay.freeSlots === 0) return this.pauseMs(sweepMs, now);
    await this.claim(isKnown ? await this.wanted(now) : await this.due.look(now), now);
    if (!isKnown && this.due.goesOn(this.underWay.freeSlots > 0)) return 0;
    // Attempts wake this loop when they end; whatever else is due is found by the next look.
    if (isKnown && this.due.hasBacklog && this.underWay.size > 0) return this.pauseMs(this.due.nextLookInMs(now), now);
    const dueAt = await this.deps.webhooks.nextDeliveryAt();
    const waitMs = dueAt === null ? sweepMs : dueAt - clock.now();
    // A delivery that is due but was not taken waits for another attempt to end or for its endpoint's breaker.
    return this.pauseMs(waitMs > 0 ? Math.min(waitMs, sweepMs) : sweepMs, now);
  }

  /** Not longer than until something has waited for too long. */
  private pauseMs(ms: number, now: number): number {
    return Math.min(ms, this.ahead.lateInMs(now) ?? ms);
  }

  private async claim(receivers: ReadonlyMap<WebhookEndpointId, Receiver>, now: number): Promise<void> {
    const { owner, webhooks, clock } = this.deps;
    const claims = this.claimsOf([...receivers.values()], now);
    if (claims.length === 0) return;
    const claimed = await webhooks.claimDeliveries(claims, now, owner, now + this.leaseMs);
    const claimedAt = clock.now();
    const left = new Map(claims.map(({ endpointId, limit }) => [endpointId, limit]));
    for (const one of claimed) {
      const { endpointId: id } = one.delivery;
      this.ahead.add(receivers.get(id) as Receiver, one, claimedAt);
      add(left, id, -1);
    }
    // Of these there was less than was asked for.
    for (const id of left.keys()) this.due.remove(id);
    this.beginWaiting();
  }

  /** The endpoints with a backlog as they are now; none while nothing of it is to be claimed. */
  private async wanted(now: number): Promise<ReadonlyMap<WebhookEndpointId, Receiver>> {
    return this.claimsOf(this.due.known, now).length === 0 ? new Map() : this.due.read();
  }

  /** For the slots that are free and not waited for, and ahead. */
  private claimsOf(receivers: readonly Receiver[], now: number): DeliveryClaim[] {
    const idle = receivers.filter(({ endpoint }) => this.ahead.countOf(endpoint.id) === 0);
    const limits = new Map<WebhookEndpointId, number>();
    for (const { of, count } of this.slotsOf(idle, now)) limits.set(of, count);
    for (const { endpointId: id, limit } of this.ahead.claims(receivers, now))
      limits.set(id, (limits.get(id) ?? 0) + limit);
    return [...limits].map(([endpointId, limit]) => ({ endpointId, limit }));
  }

  private get leaseMs(): number {
    return this.deps.timeoutMs * LEASE_ATTEMPTS;
  }

  /** The slots that are free, shared out. */
  private slotsOf(
    receivers: readonly Receiver[],
    now: number,
    most?: (id: WebhookEndpointId) => number,
  ): Demand<WebhookEndpointId>[] {
    if (receivers.length === 0) return [];
    const start = this.turn++ % receivers.length;
    const inTurn = start === 0 ? receivers : [...receivers.slice(start), ...receivers.slice(0, start)];
    return fairShares(this.underWay.freeSlots, this.hosts.demandOf(inTurn, this.underWay.tried, now, most));
  }

  /** Begins attempts of what waits, for the slots that are free. @param host all hosts by default */
  private beginWaiting(host: string | null = null): void {
    if (this.isStopping) return;
    const now = this.deps.clock.now();
    const receivers = new Map(this.ahead.receivers(host).map((receiver) => [receiver.endpoint.id, receiver]));
    for (const { of: id, count } of this.slotsOf([...receivers.values()], now, (one) => this.ahead.countOf(one)))
      for (let begun = 0; begun < count; begun++) {
        const claimed = this.ahead.take(id, now);
        if (claimed === null) break;
        this.begin(claimed, receivers.get(id) as Receiver);
      }
  }

  private begin(claimed: ClaimedDelivery, receiver: Receiver): void {
    const { endpoint, host } = receiver;
    const attempt = this.underWay.begin(endpoint.id, host, this.deps.clock.now() + this.leaseMs);
    const leaveHost = (): void => {
      if (!this.underWay.leaveHost(attempt)) return;
      this.beginWaiting(host);
      this.loop.wake();
    };
    attempt.ended = this.try(claimed, receiver, leaveHost).finally(() => {
      const wasFull = this.underWay.freeSlots === 0;
      this.underWay.end(attempt);
      if (attempt.isAtHost) leaveHost();
      else if (wasFull || this.underWay.size === 0) this.loop.wake();
    });
  }

  /**
   * Never rejects: what cannot be written is left to the lease, and sent again.
   *
   * @param onDelivered the receiver has it: others may be sent while its result is written. After a failure they wait
   *   until that is written, which may put off the next one.
   */
  private async try(
    { delivery, event }: ClaimedDelivery,
    { endpoint, host }: Receiver,
    onDelivered: () => void,
  ): Promise<void> {
    const { sendDelivery, recordAttempt: recordTry, clock, logger } = this.deps;
    const startedAt = clock.now();
    const traced = event.trace === null ? {} : { trace_id: traceIdOf(event.trace) };
    const fields = { delivery: delivery.id, event: event.id, endpoint: endpoint.id, job_id: event.jobId, ...traced };
    try {
      const result = await sendDelivery.send(event, endpoint, this.aborting.signal);
      // An attempt that our own stop aborted says nothing about the receiver.
      if (this.aborting.signal.aborted && result.status === null) return await this.release([{ delivery, event }]);
      const isHostFailing = this.hosts.note(host, result.failure, clock.now());
      const held = result.failure === null ? [] : this.ahead.takeAllOf(endpoint.id);
      if (isHostFailing) held.push(...this.ahead.takeAllAt(host));
      if (result.failure === null) {
        this.ahead.delivered(endpoint.id, clock.now());
        onDelivered();
      }
      await Promise.all([this.release(held), recordTry.record({ delivery, event, endpoint, startedAt, result })]);
      logger.debug("A webhook delivery was tried", { failure: result.failure, status: result.status, ...fields });
      if (result.failure !== null) this.warn(fields, result);
    } catch (error) {
      logger.error("A webhook delivery failed unexpectedly; it will be retried", { error, ...fields });
    }
  }

  private warn(fields: object, { failure, status, message }: WebhookResult): void {
    this.deps.logger.info("A webhook delivery failed", { ...fields, failure, status, message });
  }

  /** Never rejects: what cannot be written is left to the lease. */
  private async release(claimed: readonly ClaimedDelivery[]): Promise<void> {
    if (claimed.length === 0) return;
    const { webhooks, unitOfWork, clock, logger } = this.deps;
    const changes = { leaseOwner: null, dueAt: clock.now() };
    try {
      await unitOfWork.inTransaction((tx) =>
        webhooks.updateDeliveries(
          tx,
          claimed.map(({ delivery: { id, fence } }) => ({ id, fence, changes })),
        ),
      );
    } catch (error) {
      logger.warn("Webhook deliveries could not be released; they wait for their lease", {
        error,
        deliveries: claimed.length,
      });
    }
  }
}
