import type { AccountId, JobId, WebhookDeliveryId, WebhookEventId } from "../../../../core/ids.js";
import type { Locked, Transaction } from "../../../../core/ports/unit-of-work.js";
import type { DeliveryFilter, DeliveryUpdate, WebhookStore } from "../../../../core/ports/webhook-store.js";
import type { DeliveryAttempt, WebhookDelivery, WebhookEvent } from "../../../../core/ports/webhook-records.js";
import { allIn, groupBy } from "../lists.js";
import { allOf, oneOf, tryLocked } from "../rows.js";
import { columnsOf, sessionOf } from "../session.js";
import { fencedUpdate } from "../table.js";
import { DueQueries } from "./webhook-due-queries.js";
import { listStatement } from "./webhook-lists.js";
import { deleteOldEvents } from "./webhook-retention.js";
import {
  DELIVERY_ATTEMPTS,
  type DeliveryAttemptRow,
  type DeliveryRow,
  type EventRow,
  WEBHOOK_DELIVERIES,
  WEBHOOK_EVENTS,
} from "./webhook-tables.js";

const DELIVERIES_FROM = `SELECT ${columnsOf(WEBHOOK_DELIVERIES)} FROM {webhook_deliveries}`;
const FIND_DELIVERY = `${DELIVERIES_FROM} WHERE id = ?`;
/** Events have an index by their age; few are of the same millisecond. */
const OF_JOB = `SELECT ${columnsOf(WEBHOOK_DELIVERIES)} FROM {webhook_deliveries}
  WHERE event_id IN (SELECT id FROM {webhook_events} WHERE created_at = ? AND job_id = ?) ORDER BY id`;
const LIST_EVENTS = {
  from: `SELECT ${columnsOf(WEBHOOK_EVENTS)} FROM {webhook_events}`,
  where: "WHERE account_id = ? AND number > ? ORDER BY number LIMIT ?",
};
const LAST_ATTEMPTS = (marks: string): string =>
  `SELECT delivery_id, MAX(number) AS number FROM {webhook_tries} WHERE delivery_id IN (${marks}) GROUP BY delivery_id`;
const LIST_ATTEMPTS = `SELECT ${columnsOf(DELIVERY_ATTEMPTS)} FROM {webhook_tries}
  WHERE delivery_id = ? ORDER BY number`;

type LastAttemptRow = Pick<DeliveryAttemptRow, "delivery_id" | "number">;

/** Endpoints, events and their deliveries. */
export class KnexWebhookStore extends DueQueries implements WebhookStore {
  async insertEvents(tx: Transaction, events: readonly WebhookEvent[]): Promise<void> {
    await sessionOf(tx).insert(WEBHOOK_EVENTS, events.map(WEBHOOK_EVENTS.toRow));
  }

  async insertDeliveries(tx: Transaction, deliveries: readonly WebhookDelivery[]): Promise<void> {
    await sessionOf(tx).insert(WEBHOOK_DELIVERIES, deliveries.map(WEBHOOK_DELIVERIES.toRow));
  }

  findEvents(ids: readonly WebhookEventId[]): Promise<Map<WebhookEventId, WebhookEvent>> {
    return this.database.reading((session) => this.eventsIn(session, ids));
  }

  async listEvents(accountId: AccountId, after: number, limit: number): Promise<WebhookEvent[]> {
    const text = `${LIST_EVENTS.from}${this.database.dialect.useIndex("webhook_events_numbers")} ${LIST_EVENTS.where}`;
    const rows = await this.database.reading((session) => session.all<EventRow>(text, [accountId, after, limit]));
    return rows.map(WEBHOOK_EVENTS.fromRow);
  }

  findDelivery(id: WebhookDeliveryId): Promise<WebhookDelivery | null> {
    return this.database.reading((session) => oneOf(session, FIND_DELIVERY, [id], WEBHOOK_DELIVERIES.fromRow));
  }

  async listDeliveries(filter: DeliveryFilter): Promise<WebhookDelivery[]> {
    if (filter.states?.length === 0) return [];
    const { text, values } = listStatement(filter, this.database.dialect);
    const rows = await this.database.reading((session) => session.all<DeliveryRow>(text, values));
    return rows.map(WEBHOOK_DELIVERIES.fromRow);
  }

  async deliveriesOfJob(jobId: JobId, createdAt: number): Promise<WebhookDelivery[]> {
    const rows = await this.database.reading((session) => session.all<DeliveryRow>(OF_JOB, [createdAt, jobId]));
    return rows.map(WEBHOOK_DELIVERIES.fromRow);
  }

  async updateDeliveries(tx: Transaction, updates: readonly DeliveryUpdate[]): Promise<number> {
    // Rows are locked in ascending order everywhere; updates of the same one keep theirs.
    const ascending = [...updates].sort((a, b) => (a.id === b.id ? 0 : a.id < b.id ? -1 : 1));
    const rows = ascending.map((update) => fencedUpdate(WEBHOOK_DELIVERIES, update));
    return sessionOf(tx).updateRows("webhook_deliveries", ["id", "fence"], rows);
  }

  tryLockDeliveries(
    tx: Transaction,
    ids: readonly WebhookDeliveryId[],
  ): Promise<Locked<WebhookDeliveryId, WebhookDelivery>> {
    const { forClaim, usePrimaryKey } = this.database.dialect;
    const query = (marks: string): string => `${DELIVERIES_FROM}${usePrimaryKey} WHERE id IN (${marks})`;
    return tryLocked(sessionOf(tx), { query, forClaim }, ids, (row: DeliveryRow) => {
      const delivery = WEBHOOK_DELIVERIES.fromRow(row);
      return [delivery.id, delivery] as const;
    });
  }

  async insertDeliveryAttempts(
    tx: Transaction,
    created: readonly Omit<DeliveryAttempt, "number">[],
    locked: ReadonlyMap<WebhookDeliveryId, WebhookDelivery> = new Map(),
  ): Promise<number[]> {
    const session = sessionOf(tx);
    const { forUpdate, usePrimaryKey } = this.database.dialect;
    const ids = created.map(({ deliveryId }) => deliveryId).sort();
    const others = ids.filter((id) => !locked.has(id));
    const lock = (marks: string): string =>
      `SELECT id FROM {webhook_deliveries}${usePrimaryKey} WHERE id IN (${marks}) ORDER BY id${forUpdate}`;
    const [there, last] = await Promise.all([
      allIn<Pick<DeliveryRow, "id">>(session, lock, others),
      allIn<LastAttemptRow>(session, LAST_ATTEMPTS, ids),
    ]);
    const next = new Map([...locked.keys(), ...there.map(({ id }) => id)].map((id) => [id, 1]));
    for (const { delivery_id: id, number } of last) if (next.has(id)) next.set(id, number + 1);
    const numbered = created.map((attempt) => {
      const number = next.get(attempt.deliveryId) ?? 0;
      if (number > 0) next.set(attempt.deliveryId, number + 1);
      return { ...attempt, number };
    });
    const added = numbered.filter(({ number }) => number > 0);
    await session.insert(DELIVERY_ATTEMPTS, added.map(DELIVERY_ATTEMPTS.toRow));
    return numbered.map(({ number }) => number);
  }

  async listDeliveryAttempts(
    deliveryIds: readonly WebhookDeliveryId[],
  ): Promise<Map<WebhookDeliveryId, DeliveryAttempt[]>> {
    const rows = await this.database.reading((session) =>
      allOf<DeliveryAttemptRow>(session, LIST_ATTEMPTS, deliveryIds),
    );
    return groupBy(rows.map(DELIVERY_ATTEMPTS.fromRow), ({ deliveryId }) => deliveryId);
  }

  deleteOld(tx: Transaction, createdBefore: number, limit: number): Promise<number> {
    return deleteOldEvents(sessionOf(tx), this.database.dialect, createdBefore, limit);
  }
}
