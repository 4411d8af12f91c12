import { setImmediate as nextTurn } from "node:timers/promises";
import type { ProcessId, WebhookDeliveryId, WebhookEndpointId } from "../../../../core/ids.js";
import type { DeliveryClaim } from "../../../../core/ports/webhook-store.js";
import type { WebhookDelivery } from "../../../../core/ports/webhook-records.js";
import type { Dialect } from "../dialect.js";
import { columnsOf, type Session, type SqlValue } from "../session.js";
import { type DeliveryRow, WEBHOOK_DELIVERIES } from "./webhook-tables.js";

/** As many due deliveries are looked through one by one. */
const DUE_MAX = 200;
/** Entries of an index that are read in one go; as many for each endpoint as there were in the go before. */
const PAGE_SIZE = { first: 50, perEndpoint: 4, max: 500 } as const;
/**
 * Deliveries dropped by one statement: MySQL may take only so long for one, and SQLite holds up the whole process
 * meanwhile.
 */
const DROP_STEP = 500;

const NEXT_DUE = "SELECT MIN(due_at) AS due_at FROM webhook_deliveries WHERE state = 'pending' AND due_at >= 0";
const DROP =
  "UPDATE webhook_deliveries SET state = 'dropped', fence = fence + 1, lease_owner = NULL, due_at = NULL, " +
  "ended_at = ? " +
  `WHERE id IN (${Array.from({ length: DROP_STEP }, () => "?").join(", ")}) AND ended_at IS NULL`;
const CLAIM = "UPDATE webhook_deliveries SET fence = ?, lease_owner = ?, due_at = ? WHERE id = ? AND fence = ?";

interface DueRow {
  readonly endpoint_id: WebhookEndpointId;
  readonly due_at: number;
}

/**
 * What a store asks of the pending deliveries, on a session that it is given. Nothing here takes longer because one
 * endpoint has a backlog; the indexes are named, since what an engine guesses of them when one has piled up reads or
 * locks all of it.
 */
export class DueQueries {
  private readonly due: string;
  private readonly pendingPage: string;
  private readonly dueOfEndpoint: string;
  private readonly count: string;
  private readonly page: string;

  constructor({ useIndex, forClaim }: Pick<Dialect, "useIndex" | "forClaim">) {
    const next = `webhook_deliveries${useIndex("webhook_deliveries_next")}`;
    const byEndpoint = `webhook_deliveries${useIndex("webhook_deliveries_due")}`;
    const byAge = `webhook_deliveries${useIndex("webhook_deliveries_endpoint")}`;
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
  async endpoints(session: Session, now: number): Promise<WebhookEndpointId[]> {
    const due = await session.all<DueRow>(this.due, [now, DUE_MAX]);
    const found = due.length < DUE_MAX ? due : (await this.firstOfEach(session)).filter((first) => first.due_at <= now);
    return [...new Set(found.map((row) => row.endpoint_id))];
  }

  /** Never waits: what another claim holds is left to it. */
  async claim(
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
    await session.runEach(
      CLAIM,
      [...claimed.values()].map(({ id, fence }) => [fence, owner, leaseUntil, id, fence - 1]),
    );
    return [...claimed.values()];
  }

  /** @returns how many */
  async drop(session: Session, endpointId: WebhookEndpointId, now: number): Promise<number> {
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

  async nextAt(session: Session): Promise<number | null> {
    const [row] = await session.all<{ readonly due_at: number | null }>(NEXT_DUE);
    return row?.due_at ?? null;
  }

  async countPending(session: Session): Promise<number> {
    const [row] = await session.all<{ readonly total: number }>(this.count);
    return row?.total ?? 0;
  }

  /**
   * The first pending deliveries of each endpoint. Skips in the index from where one endpoint begins to where another
   * does, in pages: long ones where endpoints have little, short ones where each has a backlog. A loop, since only
   * SQLite does such a skip scan in a recursion and only MySQL in a GROUP BY: MariaDB reads all that is pending for
   * either (measured with a million: 0.8 s).
   */
  private async firstOfEach(session: Session): Promise<DueRow[]> {
    const firsts: DueRow[] = [];
    let [last, length]: [string, number] = ["", PAGE_SIZE.first];
    for (;;) {
      const page = await session.all<DueRow>(this.pendingPage, [last, length]);
      firsts.push(...page);
      const end = page.at(-1);
      if (end === undefined || page.length < length) return firsts;
      last = end.endpoint_id;
      const endpoints = new Set(page.map((row) => row.endpoint_id)).size;
      length = Math.min(PAGE_SIZE.perEndpoint * endpoints, PAGE_SIZE.max);
    }
  }
}
