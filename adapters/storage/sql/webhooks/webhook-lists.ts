import type { DeliveryFilter } from "../../../../core/ports/webhook-store.js";
import type { DeliveryState } from "../../../../core/ports/webhook-records.js";
import type { Dialect } from "../dialect.js";
import { columnsOf, type SqlValue } from "../session.js";
import { WEBHOOK_DELIVERIES } from "./webhook-tables.js";

const STATES: readonly DeliveryState[] = ["pending", "delivered", "exhausted", "dropped"];

/**
 * A page of an endpoint's deliveries: the first of each state straight from the index, then the first of all, so that a
 * rare state is found as fast as a common one.
 */
export function listStatement(
  filter: DeliveryFilter,
  { useIndex }: Pick<Dialect, "useIndex">,
): { readonly text: string; readonly values: readonly SqlValue[] } {
  const { endpointId, states = STATES, order, limit } = filter;
  const direction = order === "newest" ? "DESC" : "ASC";
  const inOrder = `ORDER BY created_at ${direction}, id ${direction}`;
  const { condition, values } = rangeOf(filter);
  const ofOneState =
    `SELECT * FROM (SELECT id, created_at FROM {webhook_deliveries}${useIndex("webhook_deliveries_endpoint")} ` +
    `WHERE endpoint_id = ? AND state = ? ${condition} ${inOrder} LIMIT ?) AS part`;
  const ofAll = `${states.map(() => ofOneState).join(" UNION ALL ")} ${inOrder} LIMIT ?`;
  return {
    text: `SELECT ${columnsOf(WEBHOOK_DELIVERIES)} FROM {webhook_deliveries} WHERE id IN (SELECT id
      FROM (${ofAll}) AS first_ids) ${inOrder}`,
    values: [...states.flatMap((state) => [endpointId, state, ...values, limit]), limit],
  };
}

/** A cursor is compared member by member: engines do not look up pairs of values in an index. */
function rangeOf({ since, after, order }: DeliveryFilter): {
  readonly condition: string;
  readonly values: readonly SqlValue[];
} {
  const conditions: string[] = [];
  const values: SqlValue[] = [];
  if (since !== undefined) {
    conditions.push("AND created_at >= ?");
    values.push(since);
  }
  if (after !== undefined) {
    const beyond = order === "newest" ? "<" : ">";
    conditions.push(`AND created_at ${beyond}= ? AND (created_at ${beyond} ? OR id ${beyond} ?)`);
    values.push(after.createdAt, after.createdAt, after.id);
  }
  return { condition: conditions.join(" "), values };
}
