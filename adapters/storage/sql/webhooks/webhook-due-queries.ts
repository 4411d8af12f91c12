import { setImmediate as nextTurn } from "node:timers/promises";
import type { ProcessId, WebhookDeliveryId, WebhookEndpointId, WebhookEventId } from "../../../../core/ids.js";
import type {
  ClaimedDelivery,
  DeliveryClaim,
  EndpointsWithDue,
  WebhookStore,
} from "../../../../core/ports/webhook-store.js";
import type { WebhookDelivery } from "../../../../core/ports/webhook-records.js";
import { assert } from "../../../../core/assert.js";
import type { WebhookEvent } from "../../../../core/ports/webhook-records.js";
import type { Transaction, UnitOfWork } from "../../../../core/ports/unit-of-work.js";
import type { KnexDatabase } from "../database.js";
import { mapIn } from "../lists.js";
import { keptOf } from "../rows.js";
import { columnsOf, type Session, sessionOf, type SqlValue } from "../session.js";
import { EndpointQueries } from "./webhook-endpoint-queries.js";
import { type DeliveryRow, type EventRow, WEBHOOK_DELIVERIES, WEBHOOK_EVENTS } from "./webhook-tables.js";

/** As many due deliveries are looked through one by one. */
const DUE_MAX = 200;
/** Entries of an index that are read in one go; as many for each endpoint as there were in the go before. */
const PAGE_SIZE = { first: 50, perEndpoint: 4, max: 100 } as const;
/** A look ends after so many goes, or endpoints: a sender has far fewer free slots. */
const LOOK = { pages: 15, endpoints: 100 } as const;
/**
 * Deliveries dropped by one statement: MySQL may take only so long for one, and SQLite holds up the whole process
 * meanwhile.
 */
const DROP_STEP = 500;

const findEvents = (marks: string): string =>
  `SELECT ${columnsOf(WEBHOOK_EVENTS)} FROM {webhook_events} WHERE id IN (${marks})`;
/** `id`, `lease_owner` */
const HELD = "SELECT id, fence FROM {webhook_deliveries} WHERE id = ? AND lease_owner = ?";
const NEXT_DUE = "SELECT MIN(due_at) AS due_at FROM {webhook_deliveries} WHERE state = 'pending' AND due_at >= 0";
const DROP =
  "UPDATE {webhook_deliveries} SET state = 'dropped', fence = fence + 1, lease_owner = NULL, due_at = NULL, " +
  "ended_at = ? " +
  `WHERE id IN (${Array.from({ length: DROP_STEP }, () => "?").join(", ")}) AND ended_at IS NULL`;

interface DueRow {
  readonly endpoint_id: WebhookEndpointId;
  readonly due_at: number;
}

type DueMethods = "endpointsWithDue" | "claimDeliveries" | "dropPending" | "nextDeliveryAt" | "countPending";

/**
 * The pending deliveries of a webhook store. Nothing here takes longer because one endpoint has a backlog; the indexes
 * are named, since what an engine guesses of them when one has piled up reads or locks all of it.
 */
export class DueQueries extends EndpointQueries implements Pick<WebhookStore, DueMethods> {
  private readonly due: string;
  private readonly pendingPage: string;
  private readonly dueOfEndpoint: string;
  private readonly count: string;
  private readonly page: string;

  constructor(
    database: KnexDatabase,
    private readonly unitOfWork: UnitOfWork,
  ) {
    super(database);
    const { useIndex, forClaim } = database.dialect;
    const next = `{webhook_deliveries}${useIndex("webhook_deliveries_next")}`;
    const byEndpoint = `{webhook_deliveries}${useIndex("webhook_deliveries_due")}`;
    const byAge = `{webhook_deliveries}${useIndex("webhook_deliveries_endpoint")}`;
    this.due = `SELECT endpoint_id, due_at FROM ${next} WHERE state = 'pending' AND due_at <= ? ORDER BY due_at
      LIMIT ?`;
    this.count = `SELECT COUNT(*) AS total FROM ${next} WHERE state = 'pending' AND due_at >= 0`;
    this.pendingPage =
      `SELECT endpoint_id, due_at FROM ${byEndpoint} WHERE state = 'pending' AND endpoint_id > ?
        AND due_at IS NOT NULL ` + "ORDER BY endpoint_id, due_at LIMIT ?";
    this.dueOfEndpoint =
      `SELECT ${columnsOf(WEBHOOK_DELIVERIES)} FROM ${byEndpoint} ` +
      `WHERE state = 'pending' AND endpoint_id = ? AND due_at <= ? ORDER BY due_at LIMIT ?${forClaim}`;
    this.page =
      `SELECT id, created_at FROM ${byAge} WHERE endpoint_id = ? AND state = 'pending' AND created_at >= ?
        AND (created_at > ? OR id > ?) ` + "ORDER BY created_at, id LIMIT ?";
  }

  /** Found among the few that are due, most of the time; where more have piled up, by an index skip scan. */
  endpointsWithDue(now: number, after: WebhookEndpointId | null): Promise<EndpointsWithDue> {
    return this.database.reading(async (session) => {
      const due = await session.all<DueRow>(this.due, [now, DUE_MAX]);
      if (due.length === DUE_MAX) return this.lookThrough(session, now, after);
      return { ids: [...new Set(due.map((row) => row.endpoint_id))], next: null };
    });
  }

  async claimDeliveries(
    claims: readonly DeliveryClaim[],
    now: number,
    owner: ProcessId,
    leaseUntil: number,
  ): Promise<ClaimedDelivery[]> {
    if (claims.length === 0) return [];
    const claimed = new Map<WebhookDeliveryId, { readonly fence: number; readonly claim: WebhookDelivery }>();
    return this.unitOfWork.inTransaction(async (tx) => {
      const session = sessionOf(tx);
      const kept = await keptOf(session, HELD + this.database.dialect.forClaim, owner, claimed);
      const deliveries = kept.length > 0 ? kept : await this.claim(session, claims, { now, owner, leaseUntil });
      claimed.clear();
      for (const delivery of deliveries) claimed.set(delivery.id, { fence: delivery.fence, claim: delivery });
      const events = await this.eventsIn(
        session,
        deliveries.map(({ eventId }) => eventId),
      );
      return deliveries.map((delivery) => {
        const event = events.get(delivery.eventId);
        assert(event !== undefined, "a delivery goes with its event, and is deleted with it");
        return { delivery, event };
      });
    });
  }

  /** Never waits: what another claim holds is left to it. */
  private async claim(
    session: Session,
    claims: readonly DeliveryClaim[],
    { now, owner, leaseUntil }: { readonly now: number; readonly owner: ProcessId; readonly leaseUntil: number },
  ): Promise<WebhookDelivery[]> {
    const rows = await session.allEach<DeliveryRow>(
      this.dueOfEndpoint,
      claims.map(({ endpointId, limit }) => [endpointId, now, limit]),
    );
    const claimed = new Map<WebhookDeliveryId, WebhookDelivery>();
    for (const row of rows)
      claimed.set(
        row.id,
        WEBHOOK_DELIVERIES.fromRow({ ...row, fence: row.fence + 1, lease_owner: owner, due_at: leaseUntil }),
      );
    const leases = [...claimed.values()].map(({ id, fence }) => ({
      key: [id, fence - 1],
      columns: ["fence", "lease_owner", "due_at"],
      values: [fence, owner, leaseUntil],
    }));
    await session.updateRows("webhook_deliveries", ["id", "fence"], leases);
    return [...claimed.values()];
  }

  async dropPending(tx: Transaction, endpointId: WebhookEndpointId, now: number): Promise<number> {
    const session = sessionOf(tx);
    let dropped = 0;
    let last: Pick<DeliveryRow, "id" | "created_at"> | undefined;
    for (;;) {
      // Behind the page before: entries of the index that were just given up would be read again and again.
      const after: readonly SqlValue[] = [last?.created_at ?? 0, last?.created_at ?? 0, last?.id ?? ""];
      const page = await session.all<Pick<DeliveryRow, "id" | "created_at">>(this.page, [
        endpointId,
        ...after,
        DROP_STEP,
      ]);
      const ids = Array.from({ length: DROP_STEP }, (_, index) => page[index]?.id ?? "");
      dropped += await session.run(DROP, [now, ...ids]);
      if (page.length < DROP_STEP) return dropped;
      last = page.at(-1);
      await nextTurn();
    }
  }

  async nextDeliveryAt(): Promise<number | null> {
    const [row] = await this.database.reading((session) => session.all<{ readonly due_at: number | null }>(NEXT_DUE));
    return row?.due_at ?? null;
  }

  async countPending(): Promise<number> {
    const [row] = await this.database.reading((session) => session.all<{ readonly total: number }>(this.count));
    return row?.total ?? 0;
  }

  protected eventsIn(session: Session, ids: readonly WebhookEventId[]): Promise<Map<WebhookEventId, WebhookEvent>> {
    return mapIn(session, findEvents, ids, (row: EventRow) => [row.id, WEBHOOK_EVENTS.fromRow(row)]);
  }

  /**
   * Reads the first pending deliveries of each endpoint. Skips in the index from where one endpoint begins to where
   * another does, in pages: long ones where endpoints have little, short ones where each has a backlog. A loop, since
   * only SQLite does such a skip scan in a recursion and only MySQL in a GROUP BY: MariaDB reads all that is pending
   * for either (measured with a million: 0.8 s).
   */
  private async lookThrough(session: Session, now: number, after: WebhookEndpointId | null): Promise<EndpointsWithDue> {
    const due = new Set<WebhookEndpointId>();
    let [last, length]: [WebhookEndpointId | null, number] = [after, PAGE_SIZE.first];
    for (let pages = 0; pages < LOOK.pages && due.size < LOOK.endpoints; pages++) {
      const page = await session.all<DueRow>(this.pendingPage, [last ?? "", length]);
      for (const row of page) if (row.due_at <= now) due.add(row.endpoint_id);
      const end = page.at(-1);
      if (end === undefined || page.length < length) return { ids: [...due], next: null };
      last = end.endpoint_id;
      const endpoints = new Set(page.map((row) => row.endpoint_id)).size;
      length = Math.min(PAGE_SIZE.perEndpoint * endpoints, PAGE_SIZE.max);
    }
    return { ids: [...due], next: last };
  }
}
