import type { AccountId, JobId, ProcessId, WebhookDeliveryId, WebhookEndpointId, WebhookEventId } from "../ids.js";
import type {
  DeliveryState,
  WebhookDelivery,
  WebhookEndpoint,
  WebhookEvent,
  DeliveryAttempt,
} from "./webhook-records.js";
import type { Locked, Transaction } from "./unit-of-work.js";

/** What changes of a delivery. */
export type DeliveryChanges = Partial<Pick<WebhookDelivery, "state" | "attempts" | "leaseOwner" | "dueAt" | "endedAt">>;

/** A guarded write: it counts only while the delivery still has this fence. */
export interface DeliveryUpdate {
  readonly id: WebhookDeliveryId;
  readonly fence: number;
  readonly changes: DeliveryChanges;
}

/** What a look for due deliveries has found. */
export interface EndpointsWithDue {
  readonly ids: readonly WebhookEndpointId[];
  /** Where the next look goes on; null when there was nothing more. */
  readonly next: WebhookEndpointId | null;
}

/** One for each endpoint that is to be served. */
export interface DeliveryClaim {
  readonly endpointId: WebhookEndpointId;
  /** At most this many, the longest due first. */
  readonly limit: number;
}

/** A delivery with what is needed to make it. */
export interface ClaimedDelivery {
  /** As it is after the claim: under a new fence, leased. */
  readonly delivery: WebhookDelivery;
  readonly event: WebhookEvent;
}

export interface DeliveryFilter {
  readonly endpointId: WebhookEndpointId;
  /** Created at or after this moment. */
  readonly since?: number;
  readonly states?: readonly DeliveryState[];
  /** Only those after this one, in the order asked for. */
  readonly after?: Pick<WebhookDelivery, "createdAt" | "id">;
  readonly order: "newest" | "oldest";
  readonly limit: number;
}

/**
 * Webhook endpoints, events, their deliveries and every try. Locks are taken in one order, behind those of jobs and
 * balances: the account, endpoints, events, deliveries (each ascending), inserts. Selected by `storage.url`.
 */
export interface WebhookStore {
  /**
   * All endpoints of the account, newest first (`createdAt`, then `id`, both descending), and keeps every other `tx`
   * that asks for the same account waiting until this one ends: also one that would add an endpoint.
   */
  lockEndpoints(tx: Transaction, accountId: AccountId): Promise<WebhookEndpoint[]>;
  /** The endpoint, kept from changing until `tx` ends; null when there is none. */
  lockEndpoint(tx: Transaction, id: WebhookEndpointId): Promise<WebhookEndpoint | null>;
  insertEndpoint(tx: Transaction, endpoint: WebhookEndpoint): Promise<void>;
  /**
   * Replaces all that may change of an endpoint: everything but id, account and `createdAt`. One that is gone stays
   * gone.
   */
  saveEndpoint(tx: Transaction, endpoint: WebhookEndpoint): Promise<void>;
  /** Deletes the endpoint. Its deliveries stay until {@link deleteOld} takes them. */
  deleteEndpoint(tx: Transaction, id: WebhookEndpointId): Promise<void>;

  /** Newest first, of any status. */
  listEndpoints(accountId: AccountId): Promise<WebhookEndpoint[]>;
  /** Endpoints by id; unknown ids are left out. */
  findEndpoints(ids: readonly WebhookEndpointId[]): Promise<Map<WebhookEndpointId, WebhookEndpoint>>;
  /** Endpoints of all accounts in ascending order of id, from the first after `after`, for operators. */
  listAllEndpoints(after: WebhookEndpointId | null, limit: number): Promise<WebhookEndpoint[]>;
  /** The active endpoints of these accounts, as `tx` sees them; takes no locks. */
  activeEndpoints(
    tx: Transaction,
    accountIds: readonly AccountId[],
  ): Promise<Pick<WebhookEndpoint, "id" | "accountId">[]>;

  insertEvents(tx: Transaction, events: readonly WebhookEvent[]): Promise<void>;
  /** An event goes to an endpoint once: a second delivery of the same pair is refused as a duplicate. */
  insertDeliveries(tx: Transaction, deliveries: readonly WebhookDelivery[]): Promise<void>;
  findEvents(ids: readonly WebhookEventId[]): Promise<Map<WebhookEventId, WebhookEvent>>;
  /** The account's events behind a number, in the order of their numbers; those without one are left out. */
  listEvents(accountId: AccountId, after: number, limit: number): Promise<WebhookEvent[]>;
  findDelivery(id: WebhookDeliveryId): Promise<WebhookDelivery | null>;
  listDeliveries(filter: DeliveryFilter): Promise<WebhookDelivery[]>;
  /**
   * The deliveries of the event of a job's end, by id; none once the event is deleted.
   *
   * @param createdAt when the event was created: when the job ended
   */
  deliveriesOfJob(jobId: JobId, createdAt: number): Promise<WebhookDelivery[]>;

  /**
   * Endpoints that have a pending delivery due at or before `now`, leased ones left out until their lease ends. Also
   * endpoints that are disabled or gone: a job may end while one is being disabled. However many are due, it returns
   * after as many as can be looked through in a moment: those behind `after` in the order of their ids, or the first.
   */
  endpointsWithDue(now: number, after: WebhookEndpointId | null): Promise<EndpointsWithDue>;
  /**
   * Takes due deliveries, as many of each endpoint as its claim says: raises their fence and leases them. Two claims
   * never return the same delivery under the same fence, and neither waits for the other. What it took by a commit
   * whose reply was lost, it returns as well.
   */
  claimDeliveries(
    claims: readonly DeliveryClaim[],
    now: number,
    owner: ProcessId,
    leaseUntil: number,
  ): Promise<ClaimedDelivery[]>;
  /**
   * Writes each update whose fence still holds; those of one delivery in their order. @returns how many were written
   */
  updateDeliveries(tx: Transaction, updates: readonly DeliveryUpdate[]): Promise<number>;
  /**
   * Ends every pending delivery of the endpoint as `dropped`, leased ones included, under a new fence: an attempt that
   * is under way changes nothing any more. Takes as long as there are many: seconds for 100,000.
   *
   * @returns how many there were
   */
  dropPending(tx: Transaction, endpointId: WebhookEndpointId, now: number): Promise<number>;
  /** The moment the next pending delivery is due, leased ones included; null when there is none. */
  nextDeliveryAt(): Promise<number | null>;

  /** Locks deliveries in `tx` without waiting for those that others hold; one that is gone is neither. */
  tryLockDeliveries(
    tx: Transaction,
    ids: readonly WebhookDeliveryId[],
  ): Promise<Locked<WebhookDeliveryId, WebhookDelivery>>;
  /**
   * Adds attempts, each under the next number of its delivery.
   *
   * @param locked deliveries that `tx` has locked; the others are waited for
   * @returns those numbers, in the order of the attempts; 0 where the delivery is gone, and nothing was added
   */
  insertDeliveryAttempts(
    tx: Transaction,
    created: readonly Omit<DeliveryAttempt, "number">[],
    locked?: Locked<WebhookDeliveryId, WebhookDelivery>["locked"],
  ): Promise<number[]>;
  /** The attempts of these deliveries, in their order; a delivery without any is left out. */
  listDeliveryAttempts(deliveryIds: readonly WebhookDeliveryId[]): Promise<Map<WebhookDeliveryId, DeliveryAttempt[]>>;

  /** How many deliveries are pending. */
  countPending(): Promise<number>;
  /**
   * Deletes events created before a moment, the oldest first, with their deliveries and attempts, in any state: at most
   * `limit` events. Leaves to another `tx` what it is deleting at the moment.
   *
   * @returns how many events
   */
  deleteOld(tx: Transaction, createdBefore: number, limit: number): Promise<number>;
}
