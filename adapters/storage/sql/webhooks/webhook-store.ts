import { assert } from "../../../../core/assert.js";
import type {
  AccountId,
  ProcessId,
  WebhookDeliveryId,
  WebhookEndpointId,
  WebhookEventId,
} from "../../../../core/ids.js";
import type { Transaction, UnitOfWork } from "../../../../core/ports/unit-of-work.js";
import type {
  ClaimedDelivery,
  DeliveryClaim,
  DeliveryFilter,
  DeliveryUpdate,
  WebhookStore,
} from "../../../../core/ports/webhook-store.js";
import type {
  WebhookDelivery,
  WebhookEndpoint,
  WebhookEvent,
  DeliveryAttempt,
} from "../../../../core/ports/webhook-records.js";
import type { KnexDatabase } from "../database.js";
import { writeGuarded } from "../jobs/guarded-updates.js";
import { columnsOf, type Session, sessionOf } from "../session.js";
import { DueQueries } from "./webhook-due-queries.js";
import { EndpointQueries } from "./webhook-endpoint-queries.js";
import { listStatement } from "./webhook-lists.js";
import { deleteOldEvents } from "./webhook-retention.js";
import {
  type DeliveryRow,
  type EventRow,
  type DeliveryAttemptRow,
  WEBHOOK_DELIVERIES,
  WEBHOOK_ENDPOINTS,
  WEBHOOK_EVENTS,
  DELIVERY_ATTEMPTS,
} from "./webhook-tables.js";

const FIND_EVENT = `SELECT ${columnsOf(WEBHOOK_EVENTS)} FROM webhook_events WHERE id = ?`;
const FIND_DELIVERY = `SELECT ${columnsOf(WEBHOOK_DELIVERIES)} FROM webhook_deliveries WHERE id = ?`;
const LAST_ATTEMPT = "SELECT MAX(number) AS number FROM webhook_tries WHERE delivery_id = ?";
const LIST_ATTEMPTS = `SELECT ${columnsOf(DELIVERY_ATTEMPTS)} FROM webhook_tries WHERE delivery_id = ? ORDER BY number`;

export class KnexWebhookStore implements WebhookStore {
  private readonly endpoints: EndpointQueries;
  private readonly pending: DueQueries;

  constructor(
    private readonly database: KnexDatabase,
    private readonly unitOfWork: UnitOfWork,
  ) {
    this.endpoints = new EndpointQueries(database);
    this.pending = new DueQueries(database.dialect);
  }

  lockEndpoints(tx: Transaction, accountId: AccountId): Promise<WebhookEndpoint[]> {
    return this.endpoints.lockOfAccount(sessionOf(tx), accountId);
  }

  lockEndpoint(tx: Transaction, id: WebhookEndpointId): Promise<WebhookEndpoint | null> {
    return this.endpoints.lock(sessionOf(tx), id);
  }

  async insertEndpoint(tx: Transaction, endpoint: WebhookEndpoint): Promise<void> {
    await sessionOf(tx).insert(WEBHOOK_ENDPOINTS, [WEBHOOK_ENDPOINTS.toRow(endpoint)]);
  }

  saveEndpoint(tx: Transaction, endpoint: WebhookEndpoint): Promise<void> {
    return this.endpoints.save(sessionOf(tx), endpoint);
  }

  async deleteEndpoint(tx: Transaction, id: WebhookEndpointId): Promise<void> {
    await sessionOf(tx).run("DELETE FROM webhook_endpoints WHERE id = ?", [id]);
  }

  listEndpoints(accountId: AccountId): Promise<WebhookEndpoint[]> {
    return this.endpoints.ofAccount(accountId);
  }

  findEndpoints(ids: readonly WebhookEndpointId[]): Promise<Map<WebhookEndpointId, WebhookEndpoint>> {
    return this.endpoints.find(ids);
  }

  listAllEndpoints(after: WebhookEndpointId | null, limit: number): Promise<WebhookEndpoint[]> {
    return this.endpoints.page(after, limit);
  }

  activeEndpoints(
    tx: Transaction,
    accountIds: readonly AccountId[],
  ): Promise<Pick<WebhookEndpoint, "id" | "accountId">[]> {
    return this.endpoints.active(sessionOf(tx), accountIds);
  }

  async insertEvents(tx: Transaction, events: readonly WebhookEvent[]): Promise<void> {
    await sessionOf(tx).insert(WEBHOOK_EVENTS, events.map(WEBHOOK_EVENTS.toRow));
  }

  async insertDeliveries(tx: Transaction, deliveries: readonly WebhookDelivery[]): Promise<void> {
    await sessionOf(tx).insert(WEBHOOK_DELIVERIES, deliveries.map(WEBHOOK_DELIVERIES.toRow));
  }

  findEvents(ids: readonly WebhookEventId[]): Promise<Map<WebhookEventId, WebhookEvent>> {
    return this.database.reading((session) => this.eventsIn(session, new Set(ids)));
  }

  async findDelivery(id: WebhookDeliveryId): Promise<WebhookDelivery | null> {
    const [row] = await this.database.reading((session) => session.all<DeliveryRow>(FIND_DELIVERY, [id]));
    return row === undefined ? null : WEBHOOK_DELIVERIES.fromRow(row);
  }

  async listDeliveries(filter: DeliveryFilter): Promise<WebhookDelivery[]> {
    if (filter.states?.length === 0) return [];
    const { text, values } = listStatement(filter, this.database.dialect);
    const rows = await this.database.reading((session) => session.all<DeliveryRow>(text, values));
    return rows.map(WEBHOOK_DELIVERIES.fromRow);
  }

  endpointsWithDue(now: number): Promise<WebhookEndpointId[]> {
    return this.database.reading((session) => this.pending.endpoints(session, now));
  }

  async claimDeliveries(
    claims: readonly DeliveryClaim[],
    now: number,
    owner: ProcessId,
    leaseUntil: number,
  ): Promise<ClaimedDelivery[]> {
    if (claims.length === 0) return [];
    return this.unitOfWork.inTransaction(async (tx) => {
      const session = sessionOf(tx);
      const deliveries = await this.pending.claim(session, claims, { now, owner, leaseUntil });
      const events = await this.eventsIn(session, new Set(deliveries.map(({ eventId }) => eventId)));
      return deliveries.map((delivery) => {
        const event = events.get(delivery.eventId);
        assert(event !== undefined, "a delivery goes with its event, and is deleted with it");
        return { delivery, event };
      });
    });
  }

  async updateDeliveries(tx: Transaction, updates: readonly DeliveryUpdate[]): Promise<Set<WebhookDeliveryId>> {
    // Rows are locked in ascending order everywhere; updates of the same one keep theirs.
    const ascending = [...updates].sort((a, b) => (a.id === b.id ? 0 : a.id < b.id ? -1 : 1));
    const guarded = ascending.map(({ id, fence, changes }) => ({ id, fence, ...WEBHOOK_DELIVERIES.changed(changes) }));
    return writeGuarded(sessionOf(tx), "webhook_deliveries", guarded);
  }

  dropPending(tx: Transaction, endpointId: WebhookEndpointId, now: number): Promise<number> {
    return this.pending.drop(sessionOf(tx), endpointId, now);
  }

  nextDeliveryAt(): Promise<number | null> {
    return this.database.reading((session) => this.pending.nextAt(session));
  }

  async insertDeliveryAttempt(tx: Transaction, created: Omit<DeliveryAttempt, "number">): Promise<number> {
    const session = sessionOf(tx);
    const found = await session.all(FIND_DELIVERY + this.database.dialect.forUpdate, [created.deliveryId]);
    if (found.length === 0) return 0;
    const [last] = await session.all<{ number: number | null }>(LAST_ATTEMPT, [created.deliveryId]);
    const number = (last?.number ?? 0) + 1;
    await session.insert(DELIVERY_ATTEMPTS, [DELIVERY_ATTEMPTS.toRow({ ...created, number })]);
    return number;
  }

  async listDeliveryAttempts(
    deliveryIds: readonly WebhookDeliveryId[],
  ): Promise<Map<WebhookDeliveryId, DeliveryAttempt[]>> {
    const lists = [...new Set(deliveryIds)].map((id) => [id]);
    const rows = await this.database.reading((session) => session.allEach<DeliveryAttemptRow>(LIST_ATTEMPTS, lists));
    const tries = new Map<WebhookDeliveryId, DeliveryAttempt[]>();
    for (const row of rows) {
      const list = tries.get(row.delivery_id);
      if (list === undefined) tries.set(row.delivery_id, [DELIVERY_ATTEMPTS.fromRow(row)]);
      else list.push(DELIVERY_ATTEMPTS.fromRow(row));
    }
    return tries;
  }

  countPending(): Promise<number> {
    return this.database.reading((session) => this.pending.countPending(session));
  }

  deleteOld(tx: Transaction, createdBefore: number, limit: number): Promise<number> {
    return deleteOldEvents(sessionOf(tx), this.database.dialect, createdBefore, limit);
  }

  private async eventsIn(
    session: Session,
    ids: ReadonlySet<WebhookEventId>,
  ): Promise<Map<WebhookEventId, WebhookEvent>> {
    const lists = [...ids].map((id) => [id]);
    const rows = await session.allEach<EventRow>(FIND_EVENT, lists);
    return new Map(rows.map((row) => [row.id, WEBHOOK_EVENTS.fromRow(row)]));
  }
}
