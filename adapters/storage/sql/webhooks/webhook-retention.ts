import type { WebhookDeliveryId, WebhookEventId } from "../../../../core/ids.js";
import type { Dialect } from "../dialect.js";
import type { Session } from "../session.js";

const OLD_EVENTS = "SELECT id FROM {webhook_events} WHERE created_at < ? ORDER BY created_at LIMIT ?";
const DELIVERIES_OF_EVENT = "SELECT id FROM {webhook_deliveries} WHERE event_id = ?";
const DELETE_DELIVERY = "DELETE FROM {webhook_deliveries} WHERE id = ?";
const DELETE_ATTEMPTS = "DELETE FROM {webhook_tries} WHERE delivery_id = ?";
const DELETE_EVENT = "DELETE FROM {webhook_events} WHERE id = ?";

/**
 * Deletes the oldest events with all that belongs to them. Processes that delete at once take different events.
 *
 * @returns how many events
 */
export async function deleteOldEvents(
  session: Session,
  dialect: Dialect,
  createdBefore: number,
  limit: number,
): Promise<number> {
  const events = await session.all<{ readonly id: WebhookEventId }>(OLD_EVENTS + dialect.forClaim, [
    createdBefore,
    limit,
  ]);
  await deleteEvents(
    session,
    events.map(({ id }) => id),
  );
  return events.length;
}

/**
 * Deletes events with all that belongs to them. A delivery goes before its attempts: a process that adds one locks the
 * delivery's row, so that none is added behind the deletion.
 */
export async function deleteEvents(session: Session, ids: readonly WebhookEventId[]): Promise<void> {
  const eventIds = ids.map((id) => [id]);
  const deliveries = await session.allEach<{ readonly id: WebhookDeliveryId }>(DELIVERIES_OF_EVENT, eventIds);
  // By their ids, ascending, as every transaction locks them: through the index they were found by, two would wait for
  // each other.
  const deliveryIds = deliveries
    .map(({ id }) => id)
    .sort()
    .map((id) => [id]);
  await session.runEach(DELETE_DELIVERY, deliveryIds);
  await session.runEach(DELETE_ATTEMPTS, deliveryIds);
  await session.runEach(DELETE_EVENT, eventIds);
}
