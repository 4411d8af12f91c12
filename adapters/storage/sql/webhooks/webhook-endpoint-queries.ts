import { assert } from "../../../../core/assert.js";
import type { AccountId, WebhookEndpointId } from "../../../../core/ids.js";
import type { WebhookEndpoint } from "../../../../core/ports/webhook-records.js";
import type { KnexDatabase } from "../database.js";
import { columnsOf, type Session } from "../session.js";
import { type EndpointRow, WEBHOOK_ENDPOINTS } from "./webhook-tables.js";

const COLUMNS = columnsOf(WEBHOOK_ENDPOINTS);
const NEWEST_FIRST = "ORDER BY created_at DESC, id DESC";
const FIND_ACCOUNT = "SELECT id FROM accounts WHERE id = ?";
const IDS_OF_ACCOUNT = "SELECT id FROM webhook_endpoints WHERE account_id = ? ORDER BY id";
const OF_ACCOUNT = `SELECT ${COLUMNS} FROM webhook_endpoints WHERE account_id = ? ${NEWEST_FIRST}`;
const FIND = `SELECT ${COLUMNS} FROM webhook_endpoints WHERE id = ?`;
const PAGE = `SELECT ${COLUMNS} FROM webhook_endpoints WHERE id > ? ORDER BY id LIMIT ?`;
const ACTIVE = "SELECT id, account_id FROM webhook_endpoints WHERE account_id = ? AND status = 'active'";
const CHANGING = WEBHOOK_ENDPOINTS.columns.filter(
  (column) => column !== "id" && column !== "account_id" && column !== "created_at",
);
const SAVE = `UPDATE webhook_endpoints SET ${CHANGING.map((column) => `${column} = ?`).join(", ")} WHERE id = ?`;

/** What a store asks of the table of endpoints, on a session that it is given. */
export class EndpointQueries {
  constructor(private readonly database: KnexDatabase) {}

  /** The account's row is what additions wait for: an endpoint that is not there yet cannot be locked. */
  async lockOfAccount(session: Session, accountId: AccountId): Promise<WebhookEndpoint[]> {
    const { forUpdate } = this.database.dialect;
    const accounts = await session.all(FIND_ACCOUNT + forUpdate, [accountId]);
    assert(accounts.length === 1, "a webhook endpoint belongs to an account"); // FOR UPDATE locks no absent row
    const ids = await session.all<Pick<EndpointRow, "id">>(IDS_OF_ACCOUNT, [accountId]);
    // One by one by their ids, as every transaction locks them: through the account's index, two would wait for each
    // other.
    const rows = await session.allEach<EndpointRow>(
      FIND + forUpdate,
      ids.map(({ id }) => [id]),
    );
    return rows.map(WEBHOOK_ENDPOINTS.fromRow).sort(newestFirst);
  }

  async lock(session: Session, id: WebhookEndpointId): Promise<WebhookEndpoint | null> {
    const [row] = await session.all<EndpointRow>(FIND + this.database.dialect.forUpdate, [id]);
    return row === undefined ? null : WEBHOOK_ENDPOINTS.fromRow(row);
  }

  async save(session: Session, endpoint: WebhookEndpoint): Promise<void> {
    const row = WEBHOOK_ENDPOINTS.toRow(endpoint);
    await session.run(SAVE, [...CHANGING.map((column) => row[column]), endpoint.id]);
  }

  async ofAccount(accountId: AccountId): Promise<WebhookEndpoint[]> {
    return (await this.database.reading((session) => session.all<EndpointRow>(OF_ACCOUNT, [accountId]))).map(
      WEBHOOK_ENDPOINTS.fromRow,
    );
  }

  async find(ids: readonly WebhookEndpointId[]): Promise<Map<WebhookEndpointId, WebhookEndpoint>> {
    const lists = [...new Set(ids)].map((id) => [id]);
    const rows = await this.database.reading((session) => session.allEach<EndpointRow>(FIND, lists));
    return new Map(rows.map((row) => [row.id, WEBHOOK_ENDPOINTS.fromRow(row)]));
  }

  async page(after: WebhookEndpointId | null, limit: number): Promise<WebhookEndpoint[]> {
    return (await this.database.reading((session) => session.all<EndpointRow>(PAGE, [after ?? "", limit]))).map(
      WEBHOOK_ENDPOINTS.fromRow,
    );
  }

  async active(
    session: Session,
    accountIds: readonly AccountId[],
  ): Promise<Pick<WebhookEndpoint, "id" | "accountId">[]> {
    const lists = [...new Set(accountIds)].sort().map((id) => [id]);
    const rows = await session.allEach<Pick<EndpointRow, "id" | "account_id">>(ACTIVE, lists);
    return rows.map((row) => ({ id: row.id, accountId: row.account_id }));
  }
}

function newestFirst(a: WebhookEndpoint, b: WebhookEndpoint): number {
  return b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1);
}
