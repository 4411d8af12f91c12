import { assert } from "../../../../core/assert.js";
import type { AccountId, WebhookEndpointId } from "../../../../core/ids.js";
import type { WebhookEndpoint } from "../../../../core/ports/webhook-records.js";
import type { KnexDatabase } from "../database.js";
import type { Transaction } from "../../../../core/ports/unit-of-work.js";
import type { WebhookStore } from "../../../../core/ports/webhook-store.js";
import { allIn } from "../lists.js";
import { allOf, oneOf } from "../rows.js";
import { columnsOf, sessionOf } from "../session.js";
import { type EndpointRow, WEBHOOK_ENDPOINTS } from "./webhook-tables.js";

const COLUMNS = columnsOf(WEBHOOK_ENDPOINTS);
const NEWEST_FIRST = "ORDER BY created_at DESC, id DESC";
const FIND_ACCOUNT = "SELECT id FROM {accounts} WHERE id = ?";
const IDS_OF_ACCOUNT = "SELECT id FROM {webhook_endpoints} WHERE account_id = ? ORDER BY id";
const OF_ACCOUNT = `SELECT ${COLUMNS} FROM {webhook_endpoints} WHERE account_id = ? ${NEWEST_FIRST}`;
const FIND = `SELECT ${COLUMNS} FROM {webhook_endpoints} WHERE id = ?`;
const FIND_ALL = (marks: string): string => `SELECT ${COLUMNS} FROM {webhook_endpoints} WHERE id IN (${marks})`;
const PAGE = `SELECT ${COLUMNS} FROM {webhook_endpoints} WHERE id > ? ORDER BY id LIMIT ?`;
const CHANGING = WEBHOOK_ENDPOINTS.columns.filter(
  (column) => column !== "id" && column !== "account_id" && column !== "created_at",
);
const SAVE = `UPDATE {webhook_endpoints} SET ${CHANGING.map((column) => `${column} = ?`).join(", ")} WHERE id = ?`;

type EndpointMethods =
  | "lockEndpoints"
  | "lockEndpoint"
  | "insertEndpoint"
  | "saveEndpoint"
  | "deleteEndpoint"
  | "listEndpoints"
  | "findEndpoints"
  | "listAllEndpoints"
  | "activeEndpoints";

/** The endpoints of a webhook store. */
export class EndpointQueries implements Pick<WebhookStore, EndpointMethods> {
  constructor(protected readonly database: KnexDatabase) {}

  /** The account's row is what additions wait for: an endpoint that is not there yet cannot be locked. */
  async lockEndpoints(tx: Transaction, accountId: AccountId): Promise<WebhookEndpoint[]> {
    const session = sessionOf(tx);
    const { forUpdate } = this.database.dialect;
    const accounts = await session.all(FIND_ACCOUNT + forUpdate, [accountId]);
    assert(accounts.length === 1, "a webhook endpoint belongs to an account"); // FOR UPDATE locks no absent row
    const ids = await session.all<Pick<EndpointRow, "id">>(IDS_OF_ACCOUNT, [accountId]);
    // One by one by their ids, as everybody locks them: through the account's index, two would wait for each other.
    const rows = await allOf<EndpointRow>(
      session,
      FIND + forUpdate,
      ids.map(({ id }) => id),
    );
    return rows.map(WEBHOOK_ENDPOINTS.fromRow).sort(newestFirst);
  }

  lockEndpoint(tx: Transaction, id: WebhookEndpointId): Promise<WebhookEndpoint | null> {
    return oneOf(sessionOf(tx), FIND + this.database.dialect.forUpdate, [id], WEBHOOK_ENDPOINTS.fromRow);
  }

  async insertEndpoint(tx: Transaction, endpoint: WebhookEndpoint): Promise<void> {
    await sessionOf(tx).insert(WEBHOOK_ENDPOINTS, [WEBHOOK_ENDPOINTS.toRow(endpoint)]);
  }

  async saveEndpoint(tx: Transaction, endpoint: WebhookEndpoint): Promise<void> {
    const row = WEBHOOK_ENDPOINTS.toRow(endpoint);
    await sessionOf(tx).run(SAVE, [...CHANGING.map((column) => row[column]), endpoint.id]);
  }

  async deleteEndpoint(tx: Transaction, id: WebhookEndpointId): Promise<void> {
    await sessionOf(tx).run("DELETE FROM {webhook_endpoints} WHERE id = ?", [id]);
  }

  async listEndpoints(accountId: AccountId): Promise<WebhookEndpoint[]> {
    const rows = await this.database.reading((session) => session.all<EndpointRow>(OF_ACCOUNT, [accountId]));
    return rows.map(WEBHOOK_ENDPOINTS.fromRow);
  }

  async findEndpoints(ids: readonly WebhookEndpointId[]): Promise<Map<WebhookEndpointId, WebhookEndpoint>> {
    const rows = await this.database.reading((session) => allIn<EndpointRow>(session, FIND_ALL, ids));
    return new Map(rows.map((row) => [row.id, WEBHOOK_ENDPOINTS.fromRow(row)]));
  }

  async listAllEndpoints(after: WebhookEndpointId | null, limit: number): Promise<WebhookEndpoint[]> {
    const rows = await this.database.reading((session) => session.all<EndpointRow>(PAGE, [after ?? "", limit]));
    return rows.map(WEBHOOK_ENDPOINTS.fromRow);
  }

  async activeEndpoints(
    tx: Transaction,
    accountIds: readonly AccountId[],
  ): Promise<Pick<WebhookEndpoint, "id" | "accountId">[]> {
    const table = `{webhook_endpoints}${this.database.dialect.useIndex("webhook_endpoints_account")}`;
    const active = (marks: string): string =>
      `SELECT id, account_id FROM ${table} WHERE account_id IN (${marks}) AND status = 'active'`;
    const rows = await allIn<Pick<EndpointRow, "id" | "account_id">>(sessionOf(tx), active, accountIds);
    return rows.map((row) => ({ id: row.id, accountId: row.account_id }));
  }
}

function newestFirst(a: WebhookEndpoint, b: WebhookEndpoint): number {
  return b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1);
}
